//! Writes the bytes of inserted instructions.

use ravel_classfile::{ConstantPool, Result, op};

/// The class that inserted code calls.
pub const RAVEL: &str = "java/lang/Ravel";
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

    /// Calls a static method of `Ravel`.
    pub fn call(self, name: &str, descriptor: &str, pool: &mut ConstantPool) -> Result<Self> {
        let index = pool.add_method_ref(RAVEL, name, descriptor)?;
        Ok(self.indexed(op::INVOKESTATIC, index))
    }

    /// Replaces the object on the stack by its word.
    pub fn word(self, class: &str, pool: &mut ConstantPool) -> Result<Self> {
        let index = pool.add_field_ref(class, WORD, "J")?;
        Ok(self.indexed(op::GETFIELD, index))
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
