//! Writes the bytes of inserted instructions.

use ravel_classfile::{ConstantPool, Result, op};

use super::hook::Hook;

/// The field that carries an object's word.
pub const WORD: &str = "ravel$w";

/// A piece of straight-line code.
#[derive(Default)]
pub struct Emit {
    /// The bytes so far.
    pub bytes: Vec<u8>,
}

impl Emit {
    /// No instructions yet.
    pub fn new() -> Self {
        Emit {
            bytes: Vec::with_capacity(24),
        }
    }

    /// An instruction without operands.
    pub fn op(mut self, opcode: u8) -> Self {
        self.bytes.push(opcode);
        self
    }

    /// Several instructions without operands.
    pub fn ops(mut self, opcodes: &[u8]) -> Self {
        self.bytes.extend_from_slice(opcodes);
        self
    }

    /// An instruction with a constant-pool index.
    pub fn indexed(mut self, opcode: u8, index: u16) -> Self {
        self.bytes.push(opcode);
        self.bytes.extend_from_slice(&index.to_be_bytes());
        self
    }

    /// Pushes a number.
    pub fn int(mut self, value: i32, pool: &mut ConstantPool) -> Result<Self> {
        if let Ok(small) = i8::try_from(value) {
            self.bytes.extend_from_slice(&[op::BIPUSH, small as u8]);
        } else if let Ok(short) = i16::try_from(value) {
            self.bytes.push(op::SIPUSH);
            self.bytes.extend_from_slice(&short.to_be_bytes());
        } else {
            let index = pool.add_integer(value)?;
            self = self.indexed(op::LDC_W, index);
        }
        Ok(self)
    }

    /// Pushes the class that the code belongs to. Before version 49 `ldc` takes no class: there `Class.forName` finds it, by
    /// the loader of its caller, which is the class itself.
    pub fn class(self, name: &str, major: u16, pool: &mut ConstantPool) -> Result<Self> {
        if major >= 49 {
            let index = pool.add_class(name)?;
            return Ok(self.indexed(op::LDC_W, index));
        }
        let text = pool.add_string(&name.replace('/', "."))?;
        let lookup = pool.add_method_ref("java/lang/Class", "forName", "(Ljava/lang/String;)Ljava/lang/Class;")?;
        Ok(self.indexed(op::LDC_W, text).indexed(op::INVOKESTATIC, lookup))
    }

    /// Calls a hook.
    pub fn call(self, hook: Hook, descriptor: &str, pool: &mut ConstantPool) -> Result<Self> {
        let index = pool.add_method_ref(hook.class, hook.name, descriptor)?;
        Ok(self.indexed(op::INVOKESTATIC, index))
    }

    /// Replaces the object on the stack by its word.
    pub fn word(self, class: &str, pool: &mut ConstantPool) -> Result<Self> {
        let index = pool.add_field_ref(class, WORD, "J")?;
        Ok(self.indexed(op::GETFIELD, index))
    }

    /// Loads or stores a local variable.
    pub fn local(mut self, opcode: u8, local: u16) -> Self {
        match u8::try_from(local) {
            Ok(local) => self.bytes.extend_from_slice(&[opcode, local]),
            Err(_) => {
                self.bytes.extend_from_slice(&[op::WIDE, opcode]);
                self.bytes.extend_from_slice(&local.to_be_bytes());
            }
        }
        self
    }

    /// Loads a reference from a local variable.
    pub fn load(mut self, local: u8) -> Self {
        self.bytes.extend_from_slice(&[op::ALOAD, local]);
        self
    }

    /// Loads an `int` from a local variable.
    pub fn load_int(mut self, local: u8) -> Self {
        self.bytes.extend_from_slice(&[op::ILOAD, local]);
        self
    }
}
