//! Accesses to plain fields that fences order: a read right before an acquire fence, a write right after a release fence. Together with the fence, the
//! access does what `VarHandle.getAcquire` and `setRelease` do.

use std::collections::BTreeSet;

use ravel_classfile::{Code, ConstantPool, Operand, Result, op};

/// What a call of a fence orders: the reads before it, the writes after it.
fn fence(pool: &ConstantPool, index: u16) -> Option<(bool, bool)> {
    let callee = pool.member_ref(index).ok()?;
    let of_handle = callee.class == b"java/lang/invoke/VarHandle";
    let of_unsafe = callee.class == b"sun/misc/Unsafe";
    match callee.name {
        b"acquireFence" | b"loadLoadFence" if of_handle => Some((true, false)),
        b"releaseFence" | b"storeStoreFence" if of_handle => Some((false, true)),
        b"loadFence" if of_unsafe => Some((true, false)),
        b"storeFence" if of_unsafe => Some((false, true)),
        b"fullFence" if of_handle || of_unsafe => Some((true, true)),
        _ => None,
    }
}

/// Where the code of a method accesses fields beside a fence, with no call and no jump between the two. `entries` has where jumps lead to, sorted: who
/// comes from there has not passed the fence before a write.
pub fn fenced(code: &Code, pool: &ConstantPool, entries: &[u32]) -> Result<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    let mut reads: Vec<u32> = Vec::new();
    let mut after_release = false;
    for instruction in code.instructions() {
        let instruction = instruction?;
        after_release &= entries.binary_search(&instruction.pc).is_err();
        match (instruction.opcode, instruction.operand) {
            (op::GETFIELD | op::GETSTATIC, Operand::Field(_)) => reads.push(instruction.pc),
            (op::PUTFIELD | op::PUTSTATIC, Operand::Field(_)) if after_release => {
                found.insert(instruction.pc);
            }
            (op::PUTFIELD | op::PUTSTATIC, Operand::Field(_)) => {}
            (op::INVOKESTATIC | op::INVOKEVIRTUAL, Operand::Method(index)) => match fence(pool, index) {
                Some((acquires, releases)) => {
                    if acquires {
                        found.extend(reads.drain(..));
                    }
                    after_release |= releases;
                }
                None => {
                    reads.clear();
                    after_release = false;
                }
            },
            (
                _,
                Operand::Branch(_)
                | Operand::Switch(_)
                | Operand::Method(_)
                | Operand::InterfaceMethod(..)
                | Operand::Dynamic(_),
            ) => {
                reads.clear();
                after_release = false;
            }
            _ if !instruction.falls_through() => {
                reads.clear();
                after_release = false;
            }
            _ => {}
        }
    }
    Ok(found)
}
