//! Control flow: which conditions decide whether a block runs, and which of several values arrives at one.

use rustc_hash::FxHashMap;

use super::Origins;
use crate::lower::cfg::Cfg;

/// For each block the origins of the conditions on which it depends, nested ones included.
pub(super) fn decided(cfg: &Cfg, used: &[Origins]) -> Vec<Origins> {
    let count = cfg.blocks.len();
    let after = postdominators(cfg);
    let is_after = |block: usize, of: usize| after[of][block / 64] & (1 << (block % 64)) != 0;
    // The branches on which each block depends directly.
    let mut branches: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, raw) in cfg.blocks.iter().enumerate() {
        if raw.successors.len() < 2 {
            continue;
        }
        for (block, branches) in branches.iter_mut().enumerate() {
            let follows = |next: &u16| is_after(block, usize::from(*next));
            let strictly = block != number && is_after(block, number);
            if !strictly && raw.successors.iter().any(follows) {
                branches.push(number);
            }
        }
    }
    let mut decided = vec![Origins::default(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for block in 0..count {
            for &branch in &branches[block] {
                let mut origins = decided[branch].clone();
                if let Some(last) = cfg.blocks[branch].range.end.checked_sub(1) {
                    origins.join(&used[last]);
                }
                changed |= decided[block].join(&origins);
            }
        }
    }
    decided
}

/// For each block the blocks through which every way from it to an exit leads, itself included.
fn postdominators(cfg: &Cfg) -> Vec<Vec<u64>> {
    let count = cfg.blocks.len();
    let words = count.div_ceil(64);
    let mut after = vec![vec![u64::MAX; words]; count];
    let own = |block: usize| {
        let mut set = vec![0; words];
        set[block / 64] |= 1 << (block % 64);
        set
    };
    let mut changed = true;
    while changed {
        changed = false;
        for &number in cfg.order.iter().rev() {
            let block = usize::from(number);
            let mut set = own(block);
            let successors = &cfg.blocks[block].successors;
            if let Some((first, rest)) = successors.split_first() {
                let mut common = after[usize::from(*first)].clone();
                for next in rest {
                    for (word, other) in common.iter_mut().zip(&after[usize::from(*next)]) {
                        *word &= other;
                    }
                }
                for (word, other) in set.iter_mut().zip(&common) {
                    *word |= other;
                }
            }
            if set != after[block] {
                after[block] = set;
                changed = true;
            }
        }
    }
    after
}

/// Conditional expressions: the branches that choose among the values which meet at the start of a block.
#[derive(Default)]
pub(super) struct Choices {
    /// For each reachable block the one through which every way to it leads, next above it; the first has itself.
    dominators: Vec<u16>,
    /// The blocks that each block may come from, exceptions included.
    before: Vec<Vec<u16>>,
    /// Whether each block handles exceptions: on its stack is the exception alone.
    handlers: Vec<bool>,
    known: FxHashMap<u16, Vec<u16>>,
}

const NO_BLOCK: u16 = u16::MAX;

impl Choices {
    /// The last block before the ways to a block part, and the branches on these ways; none if only one way leads to it.
    pub fn of(&mut self, cfg: &Cfg, block: u16) -> Option<(u16, &[u16])> {
        if self.dominators.is_empty() {
            self.before = predecessors(cfg);
            self.dominators = dominators(cfg, &self.before);
            self.handlers = vec![false; cfg.blocks.len()];
            let handlers = cfg.blocks.iter().flat_map(|block| &block.handlers);
            handlers.for_each(|handler| self.handlers[usize::from(*handler)] = true);
        }
        let first = self.dominators[usize::from(block)];
        if first == NO_BLOCK || first == block || self.handlers[usize::from(block)] {
            return None;
        }
        let before = &self.before;
        let branches = self.known.entry(block);
        let branches = branches.or_insert_with(|| branches_between(cfg, before, first, block));
        (!branches.is_empty()).then_some((first, branches))
    }

    /// The blocks at which values meet that a branch chooses among, as far as asked.
    pub fn by(&self, branch: u16) -> impl Iterator<Item = u16> + '_ {
        let known = self.known.iter();
        known
            .filter(move |(_, branches)| branches.contains(&branch))
            .map(|(block, _)| *block)
    }
}

/// The branches on the ways from a block to one that it dominates, if there are several ways.
fn branches_between(cfg: &Cfg, before: &[Vec<u16>], first: u16, block: u16) -> Vec<u16> {
    if before[usize::from(block)].len() < 2 {
        return Vec::new();
    }
    let mut seen = vec![false; cfg.blocks.len()];
    seen[usize::from(block)] = true;
    let mut found = Vec::new();
    let mut pending = before[usize::from(block)].clone();
    while let Some(at) = pending.pop() {
        if std::mem::replace(&mut seen[usize::from(at)], true) {
            continue;
        }
        if cfg.blocks[usize::from(at)].successors.len() > 1 {
            found.push(at);
        }
        if at != first {
            pending.extend(&before[usize::from(at)]);
        }
    }
    found.sort_unstable();
    found
}

/// The blocks that each block may come from, exceptions included.
fn predecessors(cfg: &Cfg) -> Vec<Vec<u16>> {
    let mut before = vec![Vec::new(); cfg.blocks.len()];
    for &number in &cfg.order {
        let raw = &cfg.blocks[usize::from(number)];
        for next in raw.successors.iter().chain(&raw.handlers) {
            before[usize::from(*next)].push(number);
        }
    }
    before
}

/// For each reachable block the one through which every way to it leads, next above it, by the algorithm of Cooper, Harvey and
/// Kennedy.
fn dominators(cfg: &Cfg, before: &[Vec<u16>]) -> Vec<u16> {
    let mut place = vec![usize::MAX; cfg.blocks.len()];
    for (at, number) in cfg.order.iter().enumerate() {
        place[usize::from(*number)] = at;
    }
    let mut above = vec![NO_BLOCK; cfg.blocks.len()];
    let Some((&start, rest)) = cfg.order.split_first() else {
        return above;
    };
    above[usize::from(start)] = start;
    let mut changed = true;
    while changed {
        changed = false;
        for &number in rest {
            let mut found = NO_BLOCK;
            for &from in &before[usize::from(number)] {
                if above[usize::from(from)] == NO_BLOCK {
                    continue;
                }
                if found == NO_BLOCK {
                    found = from;
                    continue;
                }
                let mut other = from;
                while found != other {
                    let (one, two) = (place[usize::from(found)], place[usize::from(other)]);
                    if one > two {
                        found = above[usize::from(found)];
                    } else {
                        other = above[usize::from(other)];
                    }
                }
            }
            if above[usize::from(number)] != found {
                above[usize::from(number)] = found;
                changed = true;
            }
        }
    }
    above
}
