//! Vector clocks: what a thread knows of the times of all threads.

use ravel_trace::ThreadId;

/// Times of all threads, as one thread knows them.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Clock(pub(super) Vec<u32>);

impl Clone for Clock {
    fn clone(&self) -> Self {
        Clock(self.0.clone())
    }

    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

impl Clock {
    /// The latest time of a thread that is known here.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// Whether a moment is known here, and so comes before.
    #[inline]
    pub fn knows(&self, moment: Moment) -> bool {
        self.get(moment.thread) >= moment.time
    }

    /// Learns all that another knows; true if anything was new.
    pub fn join(&mut self, other: &Clock) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if *theirs > *mine {
                *mine = *theirs;
                changed = true;
            }
        }
        changed
    }

    pub(super) fn set(&mut self, thread: ThreadId, time: u32) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        self.0[thread.index()] = time;
    }
}

/// A stretch of one thread between two of its edges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Moment {
    /// Who.
    pub thread: ThreadId,
    /// Its own time.
    pub time: u32,
}

/// An interned pair of clocks, what a thread knew of the hard order at some access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct ClockId(pub u32);

/// What a thread knows.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// By all hard edges.
    pub hard: Clock,
    /// By the hard edges that go through no location.
    pub bare: Clock,
    /// By hard edges and locks. Its times are its own, not those of the hard order.
    pub full: Clock,
}

impl Clocks {
    pub(super) fn join(&mut self, other: &Clocks, through_location: bool) -> bool {
        let changed = self.hard.join(&other.hard);
        if !through_location {
            self.bare.join(&other.bare);
        }
        changed
    }
}
