//! The choice that was made least often after the same order of conflicting operations, in all runs so far.
//!
//! Sampling draws the same few orders again and again where one of them is likely: of the runs of a small program nine in ten repeat an
//! order that was seen. Here a run that has come as far as an earlier one turns off where fewer runs have gone. A state is identified
//! by the order of the conflicting operations so far and by what the threads are about to do, so orders that differ only in operations
//! that do not conflict count as one. Equal choices are drawn.

use fastrand::Rng;
use rustc_hash::FxHashMap;

use super::{Past, Ready, Strategy, number_of};

/// States that are remembered: more are drawn like new ones.
const MOST: usize = 1 << 20;

/// The least tried choice.
pub struct LeastTried {
    random: Rng,
    /// By state and thread: how often it went on from there.
    tried: FxHashMap<(u64, u64), u32>,
}

impl Default for LeastTried {
    fn default() -> Self {
        LeastTried {
            random: Rng::with_seed(0),
            tried: FxHashMap::default(),
        }
    }
}

impl Strategy for LeastTried {
    fn begin(&mut self, seed: u64) {
        self.random = Rng::with_seed(seed);
    }

    fn choose(&mut self, ready: &[Ready], past: Past) -> usize {
        let threads = ready
            .iter()
            .fold(0u64, |sum, one| sum.wrapping_add(number_of(&(one.path, one.at))));
        let state = number_of(&(past.order, threads));
        let tried = |one: &Ready| self.tried.get(&(state, one.path)).copied().unwrap_or(0);
        let least = ready.iter().map(tried).min().unwrap_or(0);
        let equal: Vec<usize> = (0..ready.len())
            .filter(|place| tried(&ready[*place]) == least)
            .collect();
        let chosen = equal[self.random.usize(..equal.len())];
        if self.tried.len() < MOST {
            *self.tried.entry((state, ready[chosen].path)).or_default() += 1;
        }
        chosen
    }

    fn goes(&mut self, _: &[Ready], _: usize, _: bool) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WRITE, interleaved};
    use super::*;

    #[test]
    fn all_orders_of_a_small_program_come_soon() {
        let mut strategy = LeastTried::default();
        let ops = [WRITE; 3];
        let mut seen = std::collections::BTreeSet::new();
        let all = (0..100).position(|seed| {
            seen.insert(interleaved(&mut strategy, seed, &ops, &ops));
            seen.len() == 20
        });
        // Random choice needs about 110 runs for all twenty.
        assert!(all.is_some_and(|runs| runs < 60), "{all:?}");
    }
}
