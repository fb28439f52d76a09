//! Finds the call of the super constructor (or of another constructor of the class) in a constructor.
//!
//! Before that call `this` is not an object yet, and almost nothing may be inserted there. The call cannot be found by
//! its opcode: arguments may create objects of the same class, and since Java 22 any code may come before it. So the
//! code is followed from its start, keeping track of where the uninitialised `this` lies.

use crate::code::Code;
use crate::error::Result;
use crate::instruction::{Instruction, Instructions, Operand};
use crate::opcode as op;
use crate::pool::ConstantPool;
use crate::stack::stack_effect;

/// How much may be copied and looked at in total before the search gives up; real constructors need a few dozen.
const BUDGET: usize = 1 << 22;

/// The position of the one call that initialises `this` in a constructor: all code that lies after it runs after it.
/// None if there is no such call (as in `java/lang/Object`), if different paths make different calls, if code that runs
/// before the call lies after it, or if the code cannot be followed.
pub fn super_call_pc(code: &Code, pool: &ConstantPool) -> Option<u32> {
    let mut search = InitSearch {
        code,
        pool,
        seen: vec![false; code.code.len()],
        pending: Vec::new(),
        budget: BUDGET,
    };
    search.push(
        0,
        UninitializedThis {
            locals: vec![0],
            stack: Vec::new(),
        },
    )?;
    let mut found = None;
    while let Some((pc, state)) = search.pending.pop() {
        match search.follow(pc, state) {
            Ok(End::Call(call)) if found.is_none_or(|found| found == call) => found = Some(call),
            Ok(End::Elsewhere) => {}
            Ok(End::Call(_) | End::Lost) | Err(_) => return None,
        }
    }
    let call = found?;
    let after = search.seen.iter().skip(call as usize + 1);
    if after.into_iter().any(|seen| *seen) {
        None
    } else {
        Some(call)
    }
}

/// Where the uninitialised `this` lies.
#[derive(Clone)]
struct UninitializedThis {
    /// The locals that hold it.
    locals: Vec<u16>,
    /// For each slot of the stack, whether it holds it.
    stack: Vec<bool>,
}

enum End {
    /// The path came to the call.
    Call(u32),
    /// The path ended, or went on where another one has been.
    Elsewhere,
    /// The code does something that is not followed.
    Lost,
}

struct InitSearch<'a> {
    code: &'a Code,
    pool: &'a ConstantPool,
    /// The positions some path has been at. In code that passes verification all paths agree on what a slot holds
    /// that is used later, so one visit is enough.
    seen: Vec<bool>,
    pending: Vec<(u32, UninitializedThis)>,
    budget: usize,
}

impl InitSearch<'_> {
    /// Plans a visit unless there has been one; none when the budget is used up.
    fn push(&mut self, pc: u32, state: UninitializedThis) -> Option<()> {
        if self.seen.get(pc as usize) == Some(&false) {
            self.budget = self.budget.checked_sub(state.stack.len() + state.locals.len() + 8)?;
            self.pending.push((pc, state));
        }
        Some(())
    }

    fn follow(&mut self, start: u32, mut state: UninitializedThis) -> Result<End> {
        let mut pc = start;
        loop {
            match self.seen.get_mut(pc as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Ok(End::Elsewhere),
            }
            let rest = Instructions::starting(&self.code.code, pc, self.code.offset).next();
            let Some(instruction) = rest.transpose()? else {
                return Ok(End::Elsewhere);
            };
            match self.budget.checked_sub(self.code.exceptions.len() + 1) {
                Some(left) => self.budget = left,
                None => return Ok(End::Lost),
            }
            for entry in &self.code.exceptions {
                let protected = u32::from(entry.start)..u32::from(entry.end);
                let handler = u32::from(entry.handler);
                if protected.contains(&pc) && self.seen.get(handler as usize) == Some(&false) {
                    let at_handler = UninitializedThis {
                        locals: state.locals.clone(),
                        stack: vec![false],
                    };
                    if self.push(handler, at_handler).is_none() {
                        return Ok(End::Lost);
                    }
                }
            }
            match self.step(&instruction, &mut state)? {
                PathStep::Go => {}
                PathStep::Found => return Ok(End::Call(pc)),
                PathStep::Lost => return Ok(End::Lost),
            }
            for target in instruction.jump_targets() {
                if self.seen.get(target as usize) == Some(&false) && self.push(target, state.clone()).is_none() {
                    return Ok(End::Lost);
                }
            }
            if !instruction.falls_through() {
                return Ok(End::Elsewhere);
            }
            pc = instruction.next_pc();
        }
    }

    /// Does to the state what the instruction does.
    fn step(&self, instruction: &Instruction<'_>, state: &mut UninitializedThis) -> Result<PathStep> {
        let UninitializedThis { locals, stack } = state;
        let opcode = instruction.opcode;
        match (opcode, instruction.operand) {
            (op::JSR | op::JSR_W | op::RET, _) => return Ok(PathStep::Lost),
            (op::ALOAD | op::ALOAD_0..=op::ALOAD_3, Operand::Local(local)) => {
                stack.push(locals.contains(&local));
                return Ok(PathStep::Go);
            }
            (op::ASTORE | op::ASTORE_0..=op::ASTORE_3, Operand::Local(local)) => {
                let Some(this) = stack.pop() else {
                    return Ok(PathStep::Lost);
                };
                locals.retain(|other| *other != local);
                if this {
                    locals.push(local);
                }
                return Ok(PathStep::Go);
            }
            (op::DUP..=op::DUP2_X2, _) => {
                let (copied, below) = match opcode {
                    op::DUP => (1, 0),
                    op::DUP_X1 => (1, 1),
                    op::DUP_X2 => (1, 2),
                    op::DUP2 => (2, 0),
                    op::DUP2_X1 => (2, 1),
                    _ => (2, 2),
                };
                let Some(at) = stack.len().checked_sub(copied + below) else {
                    return Ok(PathStep::Lost);
                };
                let top: Vec<bool> = stack.iter().skip(at + below).copied().collect();
                stack.splice(at..at, top);
                return Ok(PathStep::Go);
            }
            (op::SWAP, _) => {
                let (Some(a), Some(b)) = (stack.pop(), stack.pop()) else {
                    return Ok(PathStep::Lost);
                };
                stack.extend([a, b]);
                return Ok(PathStep::Go);
            }
            _ => {}
        }
        let (popped, pushed) = stack_effect(instruction, self.pool)?;
        let Some(left) = stack.len().checked_sub(popped as usize) else {
            return Ok(PathStep::Lost);
        };
        if opcode == op::INVOKESPECIAL
            && stack.get(left) == Some(&true)
            && let Operand::Method(index) = instruction.operand
            && self.pool.member_ref(index)?.name == b"<init>"
        {
            return Ok(PathStep::Found);
        }
        stack.truncate(left);
        stack.extend((0..pushed).map(|_| false));
        if let Operand::Local(local) = instruction.operand
            && popped > 0
        {
            // A store of a number.
            locals.retain(|other| !(local..local.saturating_add(popped as u16)).contains(other));
        }
        if stack.len() > usize::from(self.code.max_stack) + 1 {
            return Ok(PathStep::Lost);
        }
        Ok(PathStep::Go)
    }
}

enum PathStep {
    Go,
    Found,
    Lost,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pool: &ConstantPool, bytes: &[u8]) -> Option<u32> {
        super_call_pc(&Code::new(8, 4, bytes.to_vec()), pool)
    }

    fn pool() -> (ConstantPool, u8, u8) {
        let mut pool = ConstantPool::new();
        let init = pool.add_method_ref("A", "<init>", "(LA;)V").expect("room");
        let class = pool.add_class("A").expect("room");
        (pool, init as u8, class as u8)
    }

    #[test]
    fn an_object_made_for_an_argument_is_not_this() {
        let (pool, init, class) = pool();
        let code = [
            op::ALOAD_0,
            op::NEW,
            0,
            class,
            op::DUP,
            op::ACONST_NULL,
            op::INVOKESPECIAL,
            0,
            init,
            op::INVOKESPECIAL,
            0,
            init,
            op::RETURN,
        ];
        assert_eq!(find(&pool, &code), Some(9));
    }

    #[test]
    fn this_is_followed_through_locals_and_swaps() {
        let (pool, init, _) = pool();
        let code = [
            op::ACONST_NULL,
            op::ALOAD_0,
            op::ASTORE_2,
            op::ALOAD_2,
            op::SWAP,
            op::INVOKESPECIAL,
            0,
            init,
            op::RETURN,
        ];
        assert_eq!(find(&pool, &code), Some(5));
    }

    #[test]
    fn code_with_branches_before_the_call() {
        let (pool, init, _) = pool();
        let mut code = vec![op::ALOAD_1, op::IFNULL, 0, 8];
        code.extend([op::ALOAD_0, op::ALOAD_1, op::GOTO, 0, 5]);
        code.extend([op::ALOAD_0, op::ALOAD_2]);
        code.extend([op::INVOKESPECIAL, 0, init, op::RETURN]);
        assert_eq!(find(&pool, &code), Some(11));
    }

    #[test]
    fn two_different_calls_are_not_decided() {
        let (pool, init, _) = pool();
        let call = [op::ALOAD_0, op::ALOAD_1, op::INVOKESPECIAL, 0, init, op::RETURN];
        let mut code = vec![op::ALOAD_1, op::IFNULL, 0, 9];
        code.extend(call);
        code.extend(call);
        assert_eq!(find(&pool, &code), None);
    }

    #[test]
    fn code_that_lies_after_the_call_but_runs_before_it_is_not_decided() {
        let (pool, init, _) = pool();
        // 0 goto 9, 3 aload_0, 4 aload_1, 5 invokespecial, 8 return, 9 goto 3
        let mut code = vec![
            op::GOTO,
            0,
            9,
            op::ALOAD_0,
            op::ALOAD_1,
            op::INVOKESPECIAL,
            0,
            init,
            op::RETURN,
        ];
        code.extend([op::GOTO, 0xff, 0xfa]);
        assert_eq!(find(&pool, &code), None);
    }

    #[test]
    fn no_call_is_none() {
        let (pool, ..) = pool();
        assert_eq!(find(&pool, &[op::RETURN]), None);
        assert_eq!(find(&pool, &[op::POP, op::RETURN]), None);
        assert_eq!(find(&pool, &[]), None);
    }
}
