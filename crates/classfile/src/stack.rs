//! How many slots of the operand stack each instruction takes and gives.

use crate::descriptor::{parse_field_descriptor, parse_method_descriptor};
use crate::error::Result;
use crate::instruction::{Instruction, Operand};
use crate::opcode as op;
use crate::pool::ConstantPool;

/// The slots that an instruction pops and pushes. `dup` and its kin pop what they copy and push it back twice.
pub fn stack_effect(instruction: &Instruction<'_>, pool: &ConstantPool) -> Result<(u32, u32)> {
    let opcode = instruction.opcode;
    Ok(match instruction.operand {
        Operand::Field(index) => {
            let slots = u32::from(parse_field_descriptor(pool.member_ref(index)?.descriptor)?.slots());
            match opcode {
                op::GETSTATIC => (0, slots),
                op::PUTSTATIC => (slots, 0),
                op::GETFIELD => (1, slots),
                _ => (1 + slots, 0),
            }
        }
        Operand::Method(index) | Operand::InterfaceMethod(index, _) => {
            let receiver = u32::from(opcode != op::INVOKESTATIC);
            let (arguments, result) = call_effect(pool.member_ref(index)?.descriptor)?;
            (receiver + arguments, result)
        }
        Operand::Dynamic(index) => call_effect(pool.dynamic(index)?.2)?,
        Operand::MultiArray(_, dimensions) => (u32::from(dimensions), 1),
        _ => fixed_effect(opcode),
    })
}

fn call_effect(descriptor: &[u8]) -> Result<(u32, u32)> {
    let descriptor = parse_method_descriptor(descriptor)?;
    Ok((
        u32::from(descriptor.argument_slots()),
        u32::from(descriptor.result_slots()),
    ))
}

/// The effect of an opcode that does not depend on operands.
fn fixed_effect(opcode: u8) -> (u32, u32) {
    match opcode {
        op::NOP | op::IINC | op::GOTO | op::GOTO_W | op::RET | op::RETURN => (0, 0),
        op::LCONST_0 | op::LCONST_1 | op::DCONST_0 | op::DCONST_1 | op::LDC2_W => (0, 2),
        op::LLOAD | op::DLOAD | op::LLOAD_0..=op::LLOAD_3 | op::DLOAD_0..=op::DLOAD_3 => (0, 2),
        // What is left up to the array loads are constants and loads of one slot.
        op::ACONST_NULL..=op::ALOAD_3 | op::NEW | op::JSR | op::JSR_W => (0, 1),
        op::LALOAD | op::DALOAD => (2, 2),
        op::IALOAD..=op::SALOAD => (2, 1),
        op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3 => (2, 0),
        op::ISTORE..=op::ASTORE_3 => (1, 0),
        op::LASTORE | op::DASTORE => (4, 0),
        op::IASTORE..=op::SASTORE => (3, 0),
        op::POP => (1, 0),
        op::POP2 => (2, 0),
        op::DUP => (1, 2),
        op::DUP_X1 => (2, 3),
        op::DUP_X2 => (3, 4),
        op::DUP2 => (2, 4),
        op::DUP2_X1 => (3, 5),
        op::DUP2_X2 => (4, 6),
        op::SWAP => (2, 2),
        op::LSHL | op::LSHR | op::LUSHR => (3, 2),
        op::INEG | op::FNEG => (1, 1),
        op::LNEG | op::DNEG => (2, 2),
        op::IADD..=op::LXOR => {
            // The shifts and logic come in pairs of int and long, the rest in fours of int, long, float and double.
            let two_slots = (opcode - op::IADD) % 2 == 1;
            if two_slots { (4, 2) } else { (2, 1) }
        }
        op::I2L | op::I2D | op::F2L | op::F2D => (1, 2),
        op::L2I | op::L2F | op::D2I | op::D2F => (2, 1),
        op::L2D | op::D2L => (2, 2),
        op::I2F | op::F2I | op::I2B..=op::I2S => (1, 1),
        op::LCMP | op::DCMPL | op::DCMPG => (4, 1),
        op::FCMPL | op::FCMPG => (2, 1),
        op::IF_ICMPEQ..=op::IF_ACMPNE => (2, 0),
        op::LRETURN | op::DRETURN => (2, 0),
        op::NEWARRAY | op::ANEWARRAY | op::ARRAYLENGTH | op::CHECKCAST | op::INSTANCEOF => (1, 1),
        // Conditional branches on one value, switches, the other returns, `athrow` and the monitor instructions.
        _ => (1, 0),
    }
}
