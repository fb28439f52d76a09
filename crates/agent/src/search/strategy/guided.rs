//! The strategies that find most, in turn: the least tried choice in two runs of four, partial-order sampling in one, and priorities in
//! one. Small programs are soon gone through by the first; bugs that need a thread to stay behind for long are for priorities; and where
//! there are too many states to come back to, sampling is fair to all conflicts.

use super::{LeastTried, PartialOrder, Past, Priorities, Ready, Strategy};

/// All in turn.
#[derive(Default)]
pub struct Guided {
    sampling: PartialOrder,
    priorities: Priorities,
    least: LeastTried,
    run: u64,
}

impl Guided {
    fn strategy(&mut self) -> &mut dyn Strategy {
        match self.run % 4 {
            1 => &mut self.sampling,
            3 => &mut self.priorities,
            _ => &mut self.least,
        }
    }
}

impl Strategy for Guided {
    fn begin(&mut self, seed: u64) {
        self.run = seed;
        self.strategy().begin(seed);
    }

    fn choose(&mut self, ready: &[Ready], past: Past) -> usize {
        self.strategy().choose(ready, past)
    }

    fn goes(&mut self, ready: &[Ready], chosen: usize, idle: bool) {
        self.strategy().goes(ready, chosen, idle);
    }
}
