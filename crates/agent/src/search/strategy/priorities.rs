//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Each thread has a random priority, and the highest that can go on does. At a few random steps the thread that is about to go falls
//! below all others. A bug that needs `d` orders between steps needs `d - 1` of these falls, so each run draws how many it makes, few
//! more often than many. The number of steps of a run is taken from the runs before.
//!
//! Departs from the paper: a thread that only waits for another one (a loop that looks at a flag) falls as well, or it would go on
//! without end.

use fastrand::Rng;

use super::{Past, Ready, Strategy};

/// The most falls of a run.
const MOST_FALLS: usize = 4;
/// Steps of a run as long as none is known.
const FIRST_STEPS: u64 = 32;

/// Priorities that change at a few points.
pub struct Priorities {
    random: Rng,
    /// By thread; above `MOST_FALLS` for those that have not fallen.
    priorities: Vec<Option<i64>>,
    /// The steps at which the thread that goes falls.
    falls: Vec<u64>,
    step: u64,
    /// The steps of the longest run so far.
    longest: u64,
    /// What the next thread that falls gets.
    low: i64,
}

impl Default for Priorities {
    fn default() -> Self {
        Priorities {
            random: Rng::with_seed(0),
            priorities: Vec::new(),
            falls: Vec::new(),
            step: 0,
            longest: 0,
            low: 0,
        }
    }
}

impl Priorities {
    fn of(&mut self, thread: usize) -> i64 {
        if self.priorities.len() <= thread {
            self.priorities.resize(thread + 1, None);
        }
        let random = &mut self.random;
        *self.priorities[thread].get_or_insert_with(|| random.i64(1..i64::MAX))
    }

    fn fall(&mut self, thread: usize) {
        self.of(thread);
        self.low -= 1;
        self.priorities[thread] = Some(self.low);
    }
}

impl Strategy for Priorities {
    fn begin(&mut self, seed: u64) {
        self.longest = self.longest.max(self.step);
        // Nothing but the seed and the runs before decides.
        self.random = Rng::with_seed(seed);
        self.priorities.clear();
        self.step = 0;
        self.low = 0;
        let steps = if self.longest == 0 { FIRST_STEPS } else { self.longest };
        let most = [1, 1, 2, 2, 3, MOST_FALLS][self.random.usize(..6)];
        self.falls = (0..most).map(|_| self.random.u64(..steps)).collect();
    }

    fn choose(&mut self, ready: &[Ready], past: Past) -> usize {
        if self.falls.contains(&self.step)
            && let Some(last) = past.last
        {
            self.falls.retain(|fall| *fall != self.step);
            self.fall(last);
        }
        let best = ready.iter().enumerate().max_by_key(|(_, one)| self.of(one.thread));
        best.map_or(0, |(place, _)| place)
    }

    fn goes(&mut self, ready: &[Ready], chosen: usize, idle: bool) {
        self.step += 1;
        if idle {
            self.fall(ready[chosen].thread);
        }
    }
}
