//! Which of the threads that can go on does so: one file per strategy.

mod follow;
mod guided;
mod least_tried;
mod partial_order;
mod priorities;
mod random;

use std::hash::{Hash, Hasher};

use ravel_protocol::{Search, StrategyKind};
use rustc_hash::FxHasher;

pub use follow::Follow;
use guided::Guided;
use least_tried::LeastTried;
use partial_order::PartialOrder;
use priorities::Priorities;
use random::Random;

/// What a thread is about to do, as far as it matters to others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Its own affair, or something that only one thread does.
    Step,
    /// An access to a field, or to an element of an array (field 0).
    Access {
        /// The field's number.
        field: u32,
        /// Whether it may write.
        writes: bool,
    },
    /// Takes the monitor of an object.
    Monitor(u64),
    /// Calls a method of an object that threads share: a lock, an atomic, a queue.
    Call {
        /// The object.
        object: u64,
        /// Whether the call may change it.
        writes: bool,
    },
}

impl Op {
    /// Whether it matters which of two operations of different threads comes first.
    pub fn conflicts(self, other: Op) -> bool {
        match (self, other) {
            (
                Op::Access { field, writes },
                Op::Access {
                    field: same,
                    writes: also,
                },
            ) => field == same && (writes || also),
            (
                Op::Call { object, writes },
                Op::Call {
                    object: same,
                    writes: also,
                },
            ) => object == same && (writes || also),
            (Op::Monitor(lock), Op::Monitor(same)) => lock == same,
            _ => false,
        }
    }
}

/// A thread that can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ready {
    /// The thread, by the order in which the threads of the run were started.
    pub thread: usize,
    /// Who started whom and in which order, as [`path_number`] has it.
    pub path: u64,
    /// What it does next.
    pub op: Op,
    /// Points that it has passed, and the so-many-th time that it has come to this one.
    pub at: (u32, u32),
}

/// A thread's path as a number that is the same in every run.
pub fn path_number(path: &str) -> u64 {
    number_of(&path)
}

/// Something as a number; sums of such numbers differ in all bits.
pub fn number_of(of: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// What has happened in the run so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Past {
    /// The thread that ran last, if it can go on.
    pub last: Option<usize>,
    /// The order in which conflicting operations came: the same number for the same order.
    pub order: u64,
}

/// Chooses the thread that goes on. Deterministic given its seed and what it is asked.
pub trait Strategy: Send {
    /// A run begins.
    fn begin(&mut self, seed: u64);

    /// The place in the list of the thread that goes on. The list has at least two, in the order of their start.
    fn choose(&mut self, ready: &[Ready], past: Past) -> usize;

    /// This thread does what it was about to do, and the others are about to do theirs; `idle` if it does nothing but wait for
    /// another one.
    fn goes(&mut self, ready: &[Ready], chosen: usize, idle: bool);
}

/// The strategy of a search.
pub fn of(search: &Search) -> Box<dyn Strategy> {
    match (&search.follow, search.strategy) {
        (Some(schedule), _) => Box::new(Follow::new(schedule.clone())),
        (None, StrategyKind::Guided) => Box::new(Guided::default()),
        (None, StrategyKind::PartialOrder) => Box::new(PartialOrder::default()),
        (None, StrategyKind::Priorities) => Box::new(Priorities::default()),
        (None, StrategyKind::Random) => Box::new(Random::default()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two threads that do these in turn, interleaved as the strategy says: the threads in the order in which they went.
    pub fn interleaved(strategy: &mut dyn Strategy, seed: u64, one: &[Op], other: &[Op]) -> Vec<usize> {
        strategy.begin(seed);
        let ops = [one, other];
        let mut next = [0; 2];
        let mut went = Vec::new();
        let mut order = 0u64;
        loop {
            let ready: Vec<Ready> = (0..2)
                .filter(|&thread| next[thread] < ops[thread].len())
                .map(|thread| Ready {
                    thread,
                    path: thread as u64,
                    op: ops[thread][next[thread]],
                    at: (next[thread] as u32, 1),
                })
                .collect();
            let chosen = match ready.len() {
                0 => return went,
                1 => 0,
                _ => {
                    let past = Past {
                        last: went.last().copied(),
                        order,
                    };
                    strategy.choose(&ready, past)
                }
            };
            strategy.goes(&ready, chosen, false);
            order = order.wrapping_mul(31) + ready[chosen].thread as u64 + 1;
            next[ready[chosen].thread] += 1;
            went.push(ready[chosen].thread);
        }
    }

    pub const WRITE: Op = Op::Access { field: 1, writes: true };
    pub const OTHER: Op = Op::Access { field: 2, writes: true };

    #[test]
    fn operations_conflict_if_one_of_them_writes_the_same() {
        let read = Op::Access {
            field: 1,
            writes: false,
        };
        assert!(WRITE.conflicts(read) && read.conflicts(WRITE) && Op::Monitor(3).conflicts(Op::Monitor(3)));
        assert!(!read.conflicts(read) && !WRITE.conflicts(OTHER) && !Op::Step.conflicts(Op::Step));
        assert!(!Op::Monitor(1).conflicts(WRITE));
    }

    #[test]
    fn every_strategy_is_the_same_for_the_same_seed_and_reaches_every_order_of_two() {
        let strategies: [Box<dyn Strategy>; 5] = [
            Box::new(LeastTried::default()),
            Box::new(Guided::default()),
            Box::new(PartialOrder::default()),
            Box::new(Priorities::default()),
            Box::new(Random::default()),
        ];
        for mut strategy in strategies {
            let mut seen = std::collections::BTreeSet::new();
            for seed in 0..200 {
                let went = interleaved(&mut *strategy, seed, &[WRITE, WRITE], &[WRITE, WRITE]);
                seen.insert(went);
            }
            assert_eq!(seen.len(), 6, "all interleavings of two times two");
        }
        let mut random = Random::default();
        let ops = [WRITE; 8];
        let first = interleaved(&mut random, 7, &ops, &ops);
        assert_eq!(interleaved(&mut random, 7, &ops, &ops), first);
    }
}
