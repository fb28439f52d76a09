//! Any thread that can go on, with equal chances: what the others are compared with.

use fastrand::Rng;

use super::{Past, Ready, Strategy};

/// Any thread.
pub struct Random(Rng);

impl Default for Random {
    fn default() -> Self {
        Random(Rng::with_seed(0))
    }
}

impl Strategy for Random {
    fn begin(&mut self, seed: u64) {
        self.0 = Rng::with_seed(seed);
    }

    fn choose(&mut self, ready: &[Ready], _: Past) -> usize {
        self.0.usize(..ready.len())
    }

    fn goes(&mut self, _: &[Ready], _: usize, _: bool) {}
}
