//! The control flow graph of a method's bytecode: basic blocks that end at branches and at the borders of try ranges.

use ravel_classfile::{Code, Instruction, op};

/// A basic block of instructions.
#[derive(Debug, Default, Clone)]
pub struct RawBlock {
    /// Its instructions, by number.
    pub range: std::ops::Range<usize>,
    /// Where it may go on, exceptions aside.
    pub successors: Vec<u16>,
    /// The handlers of exceptions in it, innermost first.
    pub handlers: Vec<u16>,
    /// Whether every exception is handled.
    pub caught: bool,
}

const NO_BLOCK: u16 = u16::MAX;

/// The graph.
#[derive(Debug, Default)]
pub struct Cfg {
    /// The blocks, in the order of the code.
    pub blocks: Vec<RawBlock>,
    /// Reachable blocks, each before its successors but for loops.
    pub order: Vec<u16>,
    block_at: Vec<u16>,
}

impl Cfg {
    /// The graph of some code; none if a branch leads into the middle of an instruction or there are too many blocks.
    pub fn of(code: &Code, instructions: &[Instruction<'_>]) -> Option<Cfg> {
        let length = code.code.len();
        let mut leader = vec![false; length + 1];
        let mut mark = |pc: u32| {
            if let Some(leader) = leader.get_mut(pc as usize) {
                *leader = true;
            }
        };
        mark(0);
        for entry in &code.exceptions {
            for pc in [entry.start, entry.end, entry.handler] {
                mark(u32::from(pc));
            }
        }
        for instruction in instructions {
            let mut jumps = false;
            for target in instruction.jump_targets() {
                mark(target);
                jumps = true;
            }
            if jumps || !instruction.falls_through() {
                mark(instruction.next_pc());
            }
        }
        let mut cfg = Cfg {
            block_at: vec![NO_BLOCK; length + 1],
            ..Cfg::default()
        };
        for (number, instruction) in instructions.iter().enumerate() {
            let pc = instruction.pc as usize;
            if leader[pc] {
                let block = u16::try_from(cfg.blocks.len())
                    .ok()
                    .filter(|block| *block < NO_BLOCK - 1)?;
                cfg.block_at[pc] = block;
                cfg.blocks.push(RawBlock {
                    range: number..number,
                    ..RawBlock::default()
                });
            }
            cfg.blocks.last_mut()?.range.end = number + 1;
        }
        cfg.connect(code, instructions)?;
        cfg.order = cfg.reverse_postorder();
        Some(cfg)
    }

    fn connect(&mut self, code: &Code, instructions: &[Instruction<'_>]) -> Option<()> {
        for block in 0..self.blocks.len() {
            let range = self.blocks[block].range.clone();
            let (first, last) = (instructions.get(range.start)?, instructions.get(range.end - 1)?);
            let mut successors = Vec::new();
            // What follows a `jsr` is reached from the `ret` of its subroutine.
            let calls = matches!(last.opcode, op::JSR | op::JSR_W);
            let falls = (last.falls_through() && !calls).then(|| last.next_pc());
            for target in falls.into_iter().chain(last.jump_targets()) {
                let target = self.block(target)?;
                if !successors.contains(&target) {
                    successors.push(target);
                }
            }
            let mut handlers = Vec::new();
            for entry in &code.exceptions {
                let covers = u32::from(entry.start) <= first.pc && first.pc < u32::from(entry.end);
                let handler = self.block(u32::from(entry.handler))?;
                if covers && !handlers.contains(&handler) {
                    handlers.push(handler);
                }
                // Nothing thrown gets past a handler for everything.
                if covers && entry.catch_type == 0 {
                    self.blocks[block].caught = true;
                    break;
                }
            }
            self.blocks[block].successors = successors;
            self.blocks[block].handlers = handlers;
        }
        self.return_from_subroutines(instructions)
    }

    /// A `ret` goes back to behind every `jsr` that leads to it. Old compilers made `finally` a subroutine: without these edges
    /// a lock that it gives up would look held behind it.
    fn return_from_subroutines(&mut self, instructions: &[Instruction<'_>]) -> Option<()> {
        let last = |block: &RawBlock| instructions.get(block.range.end.checked_sub(1)?);
        let is_call = |opcode| matches!(opcode, op::JSR | op::JSR_W);
        let mut edges = Vec::new();
        for block in &self.blocks {
            let Some(call) = last(block).filter(|last| is_call(last.opcode)) else {
                continue;
            };
            let Some(back) = self.block(call.next_pc()) else {
                continue;
            };
            let mut seen = vec![false; self.blocks.len()];
            let mut pending = block.successors.clone();
            while let Some(at) = pending.pop() {
                if std::mem::replace(&mut seen[usize::from(at)], true) {
                    continue;
                }
                let inside = &self.blocks[usize::from(at)];
                match last(inside).map(|last| last.opcode) {
                    Some(op::RET) => edges.push((at, back)),
                    // A subroutine within the subroutine comes back behind its call.
                    Some(opcode) if is_call(opcode) => {
                        pending.extend(last(inside).and_then(|call| self.block(call.next_pc())));
                    }
                    _ => pending.extend(inside.successors.iter().copied()),
                }
            }
        }
        for (from, to) in edges {
            let successors = &mut self.blocks[usize::from(from)].successors;
            if !successors.contains(&to) {
                successors.push(to);
            }
        }
        Some(())
    }

    /// The block that starts at a position; code that runs off its end or jumps into an instruction has none.
    pub fn block(&self, pc: u32) -> Option<u16> {
        self.block_at
            .get(pc as usize)
            .copied()
            .filter(|block| *block != NO_BLOCK)
    }

    fn reverse_postorder(&self) -> Vec<u16> {
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut stack: Vec<(u16, usize)> = Vec::new();
        if let Some(first) = seen.first_mut() {
            *first = true;
            stack.push((0, 0));
        }
        while let Some((block, next)) = stack.last_mut() {
            let raw = &self.blocks[usize::from(*block)];
            // Handlers first, so that they come late: what is inside a try comes before what handles it.
            let edge = raw
                .handlers
                .get(*next)
                .or_else(|| raw.successors.get(*next - raw.handlers.len().min(*next)));
            *next += 1;
            match edge {
                Some(&target) if !seen[usize::from(target)] => {
                    seen[usize::from(target)] = true;
                    stack.push((target, 0));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Whether a block lies on a loop; a loop may lead through what handles an exception.
    pub fn in_loop(&self, block: u16) -> bool {
        self.leads_to(block, block)
    }

    /// Whether a way leads from one block to another, also through what handles an exception.
    pub fn leads_to(&self, from: u16, to: u16) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut pending = vec![from];
        while let Some(at) = pending.pop() {
            let raw = &self.blocks[usize::from(at)];
            for next in raw.successors.iter().chain(&raw.handlers) {
                if *next == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[usize::from(*next)], true) {
                    pending.push(*next);
                }
            }
        }
        false
    }
}

/// Whether an instruction stores to a local, with the local.
pub(super) fn stored_local(instruction: &Instruction<'_>) -> Option<u16> {
    match instruction.operand {
        ravel_classfile::Operand::Local(slot) if matches!(instruction.opcode, op::ISTORE..=op::ASTORE_3) => Some(slot),
        ravel_classfile::Operand::Increment(slot, _) => Some(slot),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subroutine_returns_behind_its_call() {
        // 0: jsr 6, 3: return, 4: nop, 5: return, 6: astore_0, 7: ret 0
        let bytes = vec![op::JSR, 0, 6, op::RETURN, op::NOP, op::RETURN, op::ASTORE_0, op::RET, 0];
        let code = Code::new(1, 1, bytes);
        let instructions: Vec<Instruction<'_>> = code.instructions().collect::<Result<_, _>>().expect("decoded");
        let cfg = Cfg::of(&code, &instructions).expect("a graph");
        let block = |pc| usize::from(cfg.block(pc).expect("a block"));
        let next = |pc| cfg.blocks[block(pc)].successors.clone();
        assert_eq!(
            next(0),
            [block(6) as u16],
            "what follows is reached from the subroutine"
        );
        assert_eq!(next(6), [block(3) as u16]);
    }
}
