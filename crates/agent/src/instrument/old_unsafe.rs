//! Accesses through `sun.misc.Unsafe` on JDK 8. Later it is a class of Java code, which is modelled like others; there its methods are native, or
//! called by the agent's own classes. So calls of the program and of frameworks go to a class of static methods that have the models
//! (`RavelUnsafe`), and the JDK's own calls stay as they are.

use ravel_classfile::{ClassFile, Code, ConstantPool, Operand, Result, access, op};

use super::library;
use super::{Context, methods};
use crate::models;

const UNSAFE: &str = "sun/misc/Unsafe";
const STAND_IN: &str = "java/lang/RavelUnsafe";
/// What methods begin with that access memory of an object: the object and the offset.
const PLACE: &str = "(Ljava/lang/Object;J";
const OBJECT: (&str, &str) = ("Object", "Ljava/lang/Object;");
const TYPES: [(&str, &str); 9] = [
    ("Int", "I"),
    ("Long", "J"),
    OBJECT,
    ("Boolean", "Z"),
    ("Byte", "B"),
    ("Char", "C"),
    ("Short", "S"),
    ("Float", "F"),
    ("Double", "D"),
];

/// The methods of the class: name and descriptor.
fn accesses() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (at, (name, of)) in TYPES.into_iter().enumerate() {
        for mode in ["", "Volatile"] {
            all.push((format!("get{name}{mode}"), format!("{PLACE}){of}")));
            all.push((format!("put{name}{mode}"), format!("{PLACE}{of})V")));
        }
        // The others have these of `int`, `long` and references alone.
        if at < 3 {
            all.push((format!("compareAndSwap{name}"), format!("{PLACE}{of}{of})Z")));
            all.push((format!("putOrdered{name}"), format!("{PLACE}{of})V")));
            all.push((format!("getAndSet{name}"), format!("{PLACE}{of}){of}")));
        }
        if at < 2 {
            all.push((format!("getAndAdd{name}"), format!("{PLACE}{of}){of}")));
        }
    }
    all
}

/// The descriptor of the static method that stands for one of `Unsafe`.
fn with_receiver(descriptor: &str) -> String {
    descriptor.replacen('(', "(Lsun/misc/Unsafe;", 1)
}

/// Fills the class: each method calls its original, with the model's hooks around.
pub(super) fn stand_in(cx: &mut Context<'_>, class: &mut ClassFile) -> Result<()> {
    for (name, descriptor) in accesses() {
        let code = forward(&name, &descriptor, &mut class.pool)?;
        let flags = access::PUBLIC | access::STATIC;
        class.add_method(flags, &name, &with_receiver(&descriptor), Some(&code))?;
    }
    for method in methods(class)? {
        let original = method.descriptor.replacen("Lsun/misc/Unsafe;", "", 1);
        if let Some(found) = models::find(UNSAFE, &method.name, &original, false) {
            library::model(cx, class, &method, &found)?;
        }
    }
    Ok(())
}

/// Loads the receiver and the arguments, and calls.
fn forward(name: &str, descriptor: &str, pool: &mut ConstantPool) -> Result<Code> {
    let (parameters, result) = descriptor.split_once(')').unwrap_or((descriptor, "V"));
    let values = parameters.strip_prefix(PLACE).unwrap_or_default();
    let mut bytes = vec![op::ALOAD, 0, op::ALOAD, 1, op::LLOAD, 2];
    let mut local: u8 = 4;
    for value in values.replace(OBJECT.1, "L").bytes() {
        let (load, slots) = match value {
            b'J' => (op::LLOAD, 2),
            b'D' => (op::DLOAD, 2),
            b'F' => (op::FLOAD, 1),
            b'L' => (op::ALOAD, 1),
            _ => (op::ILOAD, 1),
        };
        bytes.extend_from_slice(&[load, local]);
        local += slots;
    }
    let called = pool.add_method_ref(UNSAFE, name, descriptor)?.to_be_bytes();
    bytes.extend_from_slice(&[op::INVOKEVIRTUAL, called[0], called[1]]);
    bytes.push(match result.as_bytes().first() {
        Some(b'V') | None => op::RETURN,
        Some(b'J') => op::LRETURN,
        Some(b'D') => op::DRETURN,
        Some(b'F') => op::FRETURN,
        Some(b'L') => op::ARETURN,
        _ => op::IRETURN,
    });
    Ok(Code::new(u16::from(local), u16::from(local), bytes))
}

/// Sends the calls of a class there; false if it has none. A call is replaced by one of the same length.
pub(super) fn redirect(class: &mut ClassFile) -> Result<bool> {
    if class.pool.find_utf8(UNSAFE).is_none() {
        return Ok(false);
    }
    let known = accesses();
    let mut changed = false;
    for method in methods(class)? {
        let Some(mut code) = class.code(&class.methods[method.index])? else {
            continue;
        };
        let mut calls = Vec::new();
        for instruction in code.instructions() {
            let instruction = instruction?;
            let (op::INVOKEVIRTUAL, Operand::Method(index)) = (instruction.opcode, instruction.operand) else {
                continue;
            };
            let called = class.pool.member_ref(index)?;
            let is_called = |(name, descriptor): &&(String, String)| {
                (name.as_bytes(), descriptor.as_bytes()) == (called.name, called.descriptor)
            };
            if called.class == UNSAFE.as_bytes()
                && let Some(access) = known.iter().find(is_called)
            {
                calls.push((instruction.pc as usize, access));
            }
        }
        if calls.is_empty() {
            continue;
        }
        for (pc, (name, descriptor)) in calls {
            let target = class.pool.add_method_ref(STAND_IN, name, &with_receiver(descriptor))?;
            if let Some(bytes) = code.code.get_mut(pc..pc + 3) {
                bytes[0] = op::INVOKESTATIC;
                bytes[1..].copy_from_slice(&target.to_be_bytes());
            }
        }
        class.set_code(method.index, &code)?;
        changed = true;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_of_unsafe_has_a_model() {
        let all = accesses();
        assert_eq!(all.len(), 47);
        for (name, descriptor) in all {
            assert!(models::find(UNSAFE, &name, &descriptor, false).is_some(), "{name}");
            let mut pool = ConstantPool::new();
            let code = forward(&name, &descriptor, &mut pool).expect("fits");
            assert!(code.instructions().all(|instruction| instruction.is_ok()), "{name}");
        }
        assert_eq!(
            with_receiver("(Ljava/lang/Object;JII)Z"),
            "(Lsun/misc/Unsafe;Ljava/lang/Object;JII)Z"
        );
    }
}
