//! Calls whose result the program throws away. It matters for `StampedLock.validate`: reads before it are only good if the program asks
//! what it returned, and a trace does not tell that.

use ravel_classfile::{Code, Operand, op};

/// Whether the result of the call at `pc`, an `int` or `boolean`, is thrown away: popped, or kept in a local variable that no
/// instruction of the method loads. A variable that shares its slot with another one counts as loaded.
pub(super) fn drops_result(code: &Code, pc: u32) -> bool {
    let mut after = code
        .instructions()
        .map_while(Result::ok)
        .skip_while(|instruction| instruction.pc <= pc);
    let Some(next) = after.next() else {
        return false;
    };
    match (next.opcode, next.operand) {
        (op::POP, _) => true,
        (op::ISTORE | op::ISTORE_0..=op::ISTORE_3, Operand::Local(slot)) => {
            !code.instructions().map_while(Result::ok).any(|instruction| {
                let is_store = matches!(instruction.opcode, op::ISTORE..=op::ASTORE | op::ISTORE_0..=op::ASTORE_3);
                match instruction.operand {
                    Operand::Local(other) => other == slot && !is_store,
                    Operand::Increment(other, _) => other == slot,
                    _ => false,
                }
            })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a method with this code after `invokevirtual` drops what the call returns.
    fn drops(rest: &[u8]) -> bool {
        let mut bytes = vec![op::INVOKEVIRTUAL, 0, 1];
        bytes.extend_from_slice(rest);
        let code = Code {
            max_stack: 4,
            max_locals: 4,
            code: bytes,
            ..Code::default()
        };
        drops_result(&code, 0)
    }

    #[test]
    fn a_result_that_is_popped_or_never_loaded_is_dropped() {
        assert!(drops(&[op::POP, op::RETURN]));
        assert!(drops(&[op::ISTORE, 3, op::RETURN]));
        assert!(drops(&[op::ISTORE_0 + 3, op::ILOAD_0 + 2, op::IRETURN]));
    }

    #[test]
    fn a_result_that_is_tested_returned_or_loaded_is_heeded() {
        assert!(!drops(&[op::IFEQ, 0, 3, op::RETURN]));
        assert!(!drops(&[op::IRETURN]));
        assert!(!drops(&[op::ISTORE_0 + 3, op::ILOAD_0 + 3, op::IRETURN]));
        assert!(!drops(&[op::ISTORE, 3, op::ILOAD, 3, op::IRETURN]));
    }
}
