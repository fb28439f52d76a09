//! Partial-order sampling (Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018).
//!
//! What each thread does next has a random priority, and the highest goes first. When an operation is done, the pending
//! operations that conflict with it draw new priorities. So each conflict is decided by a fair draw of its own, however many
//! operations that matter to no other thread lie in between; a random walk is biased to the thread that has fewer of those.
//!
//! Departs from the paper: two accesses conflict if they name the same field, whatever the object, since a thread that asks knows only
//! the place in the code. A draw too many costs nothing but some of the fairness.

use fastrand::Rng;

use super::{Past, Ready, Strategy};

/// Partial-order sampling.
pub struct PartialOrder {
    random: Rng,
    /// By thread: the priority of what it does next, once it is drawn.
    priorities: Vec<Option<u64>>,
}

impl Default for PartialOrder {
    fn default() -> Self {
        PartialOrder {
            random: Rng::with_seed(0),
            priorities: Vec::new(),
        }
    }
}

impl PartialOrder {
    fn priority(&mut self, thread: usize) -> &mut Option<u64> {
        if self.priorities.len() <= thread {
            self.priorities.resize(thread + 1, None);
        }
        &mut self.priorities[thread]
    }
}

impl Strategy for PartialOrder {
    fn begin(&mut self, seed: u64) {
        self.random = Rng::with_seed(seed);
        self.priorities.clear();
    }

    fn choose(&mut self, ready: &[Ready], _: Past) -> usize {
        let mut best = (0, 0);
        for (place, one) in ready.iter().enumerate() {
            if self.priority(one.thread).is_none() {
                // Zero is for threads that only wait.
                let drawn = self.random.u64(1..);
                *self.priority(one.thread) = Some(drawn);
            }
            let priority = self.priority(one.thread).unwrap_or_default();
            if priority > best.0 {
                best = (priority, place);
            }
        }
        best.1
    }

    fn goes(&mut self, ready: &[Ready], chosen: usize, _: bool) {
        let done = ready[chosen];
        for (place, other) in ready.iter().enumerate() {
            if place == chosen || done.op.conflicts(other.op) {
                *self.priority(other.thread) = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OTHER, WRITE, interleaved};
    use super::*;

    #[test]
    fn a_conflict_is_decided_fairly_however_much_comes_before_it() {
        let mut strategy = PartialOrder::default();
        let long = [OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, WRITE];
        // How often the thread with much to do before its write writes first.
        let first = (0..2000)
            .filter(|seed| {
                let went = interleaved(&mut strategy, *seed, &long, &[WRITE]);
                went.last() == Some(&1)
            })
            .count();
        // A random walk does so once in 256 times.
        assert!(first > 150, "{first} of 2000");
    }
}
