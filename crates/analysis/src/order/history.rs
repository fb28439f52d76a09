//! Clocks of the past: what threads knew of the hard order at their accesses, in little space.
//!
//! Most moments of a thread differ from the one before in its own time alone, because it has sent something (a volatile write,
//! a notification). What it knows of the others is stored once for all such moments.
//!
//! **Bounds.** [`MOMENTS`] moments and [`WORDS`] times of others. Beyond them a thread keeps the last moment that it got: accesses
//! are then taken to be as early as that, and to know no more. [`History::coarse`] counts the moments lost.

use super::{Clock, ClockId, Clocks, Moment};
use ravel_trace::ThreadId;

/// How many moments are remembered.
pub const MOMENTS: usize = 1 << 23;

/// How many times of other threads are remembered in all.
pub const WORDS: usize = 1 << 26;

#[derive(Clone, Copy, Debug)]
struct ClockEntry {
    own: Moment,
    /// Where the clocks of the others begin in `words`: all hard edges, and those through no location.
    hard: u32,
    bare: u32,
    /// How many edges had been noted.
    noted: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    id: Option<ClockId>,
    /// Whether `id` is what the thread knows now.
    current: bool,
    hard: Option<u32>,
    bare: Option<u32>,
}

/// What a thread knew at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// By all hard edges.
    pub hard: PastClock<'a>,
    /// By the hard edges that go through no location.
    pub bare: PastClock<'a>,
}

/// One clock of a moment.
#[derive(Clone, Copy, Debug)]
pub struct PastClock<'a> {
    own: Moment,
    others: &'a [u32],
}

impl PastClock<'_> {
    /// The latest time of a thread that is known here.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        if thread == self.own.thread {
            return self.own.time;
        }
        self.others.get(thread.index()).copied().unwrap_or(0)
    }

    /// Whether a moment is known here, and so comes before.
    #[inline]
    pub fn knows(&self, moment: Moment) -> bool {
        self.get(moment.thread) >= moment.time
    }
}

/// All moments remembered.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<ClockEntry>,
    /// Clocks, each after its length.
    words: Vec<u32>,
    threads: Vec<Latest>,
    coarse: u64,
}

impl History {
    /// Makes room for one thread more.
    pub(super) fn grow(&mut self) {
        self.threads.push(Latest::default());
    }

    /// How many moments were taken for an earlier one of their thread.
    pub fn coarse(&self) -> u64 {
        self.coarse
    }

    /// The thread's own time has changed.
    #[inline]
    pub(super) fn moved(&mut self, thread: ThreadId) {
        self.threads[thread.index()].current = false;
    }

    /// The thread has come to know something of others.
    #[inline]
    pub(super) fn learned(&mut self, thread: ThreadId) {
        let latest = &mut self.threads[thread.index()];
        (latest.hard, latest.bare, latest.current) = (None, None, false);
    }

    /// The present moment of a thread.
    #[inline]
    pub(super) fn present(&mut self, thread: ThreadId, clocks: &Clocks, noted: usize) -> ClockId {
        let latest = &self.threads[thread.index()];
        match latest.id {
            Some(id) if latest.current => id,
            _ => self.remember(thread, clocks, noted),
        }
    }

    fn remember(&mut self, thread: ThreadId, clocks: &Clocks, noted: usize) -> ClockId {
        let full = self.entries.len() >= MOMENTS || self.words.len() >= WORDS;
        if let Some(id) = self.threads[thread.index()].id.filter(|_| full) {
            self.coarse += 1;
            self.threads[thread.index()].current = true;
            return id;
        }
        let latest = self.threads[thread.index()];
        let hard = latest.hard.unwrap_or_else(|| self.store(&clocks.hard));
        let bare = latest.bare.unwrap_or_else(|| self.store(&clocks.bare));
        let id = ClockId(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.entries.push(ClockEntry {
            own: Moment {
                thread,
                time: clocks.hard.get(thread),
            },
            hard,
            bare,
            noted: u32::try_from(noted).unwrap_or(u32::MAX),
        });
        self.threads[thread.index()] = Latest {
            id: Some(id),
            current: true,
            hard: Some(hard),
            bare: Some(bare),
        };
        id
    }

    fn store(&mut self, clock: &Clock) -> u32 {
        let at = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.push(clock.0.len() as u32);
        self.words.extend_from_slice(&clock.0);
        at
    }

    fn others(&self, at: u32) -> &[u32] {
        let at = at as usize;
        let len = self.words[at] as usize;
        &self.words[at + 1..at + 1 + len]
    }

    /// A moment.
    #[inline]
    pub(super) fn past(&self, id: ClockId) -> Past<'_> {
        let entry = &self.entries[id.0 as usize];
        let clock = |at| PastClock {
            own: entry.own,
            others: self.others(at),
        };
        Past {
            hard: clock(entry.hard),
            bare: clock(entry.bare),
        }
    }

    /// How many edges had been noted at a moment.
    pub(super) fn noted(&self, id: ClockId) -> usize {
        self.entries[id.0 as usize].noted as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_that_differ_in_the_own_time_share_what_is_known_of_others() {
        let mut history = History::default();
        (0..2).for_each(|_| history.grow());
        let (mine, other) = (ThreadId(0), ThreadId(1));
        let mut clocks = Clocks::default();
        clocks.hard.set(mine, 1);
        clocks.hard.set(other, 7);
        clocks.bare.set(mine, 1);
        let first = history.present(mine, &clocks, 0);
        assert_eq!(history.present(mine, &clocks, 0), first);
        let words = history.words.len();
        clocks.hard.set(mine, 2);
        history.moved(mine);
        let second = history.present(mine, &clocks, 3);
        assert_eq!(history.words.len(), words);
        clocks.hard.set(other, 9);
        history.learned(mine);
        let third = history.present(mine, &clocks, 4);
        let known = |id| (history.past(id).hard.get(mine), history.past(id).hard.get(other));
        assert_eq!([first, second, third].map(known), [(1, 7), (2, 7), (2, 9)]);
        assert_eq!(history.past(third).bare.get(other), 0);
        assert_eq!((history.noted(second), history.coarse()), (3, 0));
    }
}
