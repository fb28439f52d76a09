//! Re-entrancy: from every acquisition and release that a thread makes to the outermost ones. The reader knows locks by their
//! numbers, the writer, which counts what a reader will deliver, by their objects.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::event::{Mode, Op};
use crate::ids::LockId;
use crate::raw::RawKind;

/// How often one thread holds one lock.
#[derive(Clone, Copy, Default, Debug)]
struct HoldCount {
    exclusive: u32,
    shared: u32,
    /// Levels given up by a wait that has not ended.
    waiting: Option<u32>,
}

/// The locks that one thread holds.
#[derive(Debug)]
pub(crate) struct Reentrancy<K>(FxHashMap<K, HoldCount>);

impl<K> Default for Reentrancy<K> {
    fn default() -> Self {
        Reentrancy(FxHashMap::default())
    }
}

/// A change of a thread's hold on a lock that is an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Acquire(Mode),
    Release(Mode),
    Wait,
    Resume { notified: bool },
}

impl Change {
    /// The event.
    pub fn of(self, lock: LockId) -> Op {
        match self {
            Change::Acquire(mode) => Op::Acquire { lock, mode },
            Change::Release(mode) => Op::Release { lock, mode },
            Change::Wait => Op::Wait { lock },
            Change::Resume { notified } => Op::Resume { lock, notified },
        }
    }
}

/// What a lock record becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// An inner one: nothing.
    Inner,
    /// An event.
    One(Change),
    /// Two events: the hold changes from exclusive to shared or back.
    Two(Change, Change),
    /// Something whose beginning was not seen, and what to make of it.
    Unmatched(Option<Change>),
}

impl<K: Copy + Eq + Hash> Reentrancy<K> {
    /// What a record of a kind that [changes a hold](RawKind::is_locking) becomes.
    pub fn apply(&mut self, kind: RawKind, lock: K) -> Outcome {
        match kind {
            RawKind::Acquire => self.acquire(lock, Mode::Exclusive),
            RawKind::AcquireShared => self.acquire(lock, Mode::Shared),
            RawKind::Release => self.release(lock, Mode::Exclusive),
            RawKind::ReleaseShared => self.release(lock, Mode::Shared),
            RawKind::Wait => self.wait(lock),
            RawKind::ResumeUnnotified => self.resume(lock, false),
            _ => self.resume(lock, true),
        }
    }

    fn acquire(&mut self, lock: K, mode: Mode) -> Outcome {
        let held = self.0.entry(lock).or_default();
        let before = (held.exclusive, held.shared);
        let level = match mode {
            Mode::Exclusive => &mut held.exclusive,
            Mode::Shared => &mut held.shared,
        };
        *level = level.saturating_add(1);
        match (mode, before) {
            (_, (0, 0)) => Outcome::One(Change::Acquire(mode)),
            (Mode::Exclusive, (0, _)) => Outcome::Two(Change::Release(Mode::Shared), Change::Acquire(mode)),
            _ => Outcome::Inner,
        }
    }

    fn release(&mut self, lock: K, mode: Mode) -> Outcome {
        let Some(held) = self.0.get_mut(&lock) else {
            return Outcome::Unmatched(None);
        };
        let level = match mode {
            Mode::Exclusive => &mut held.exclusive,
            Mode::Shared => &mut held.shared,
        };
        if *level == 0 {
            return Outcome::Unmatched(None);
        }
        *level -= 1;
        if *level > 0 {
            return Outcome::Inner;
        }
        let outcome = match (mode, held.exclusive, held.shared) {
            (_, 0, 0) => Outcome::One(Change::Release(mode)),
            // A read lock given up inside the write lock was never seen to be taken from outside.
            (Mode::Shared, ..) => Outcome::Inner,
            (Mode::Exclusive, ..) => Outcome::Two(Change::Release(mode), Change::Acquire(Mode::Shared)),
        };
        self.forget_if_free(lock);
        outcome
    }

    fn wait(&mut self, lock: K) -> Outcome {
        match self.0.get_mut(&lock) {
            Some(held) if held.exclusive > 0 => {
                held.waiting = Some(std::mem::take(&mut held.exclusive));
                Outcome::One(Change::Wait)
            }
            _ => Outcome::Unmatched(None),
        }
    }

    /// The end of a wait whose beginning the trace does not have is an acquisition.
    fn resume(&mut self, lock: K, notified: bool) -> Outcome {
        let held = self.0.entry(lock).or_default();
        let waited = held.waiting.take();
        let outermost = held.exclusive == 0;
        held.exclusive = held.exclusive.saturating_add(waited.unwrap_or(1));
        match (waited, outermost) {
            (Some(_), true) => Outcome::One(Change::Resume { notified }),
            (None, true) => Outcome::Unmatched(Some(Change::Acquire(Mode::Exclusive))),
            (_, false) => Outcome::Unmatched(None),
        }
    }

    fn forget_if_free(&mut self, lock: K) {
        if self
            .0
            .get(&lock)
            .is_some_and(|held| held.exclusive == 0 && held.shared == 0 && held.waiting.is_none())
        {
            self.0.remove(&lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L: LockId = LockId(0);
    const EXCLUSIVE: Mode = Mode::Exclusive;
    const SHARED: Mode = Mode::Shared;

    fn acquired(mode: Mode) -> Outcome {
        Outcome::One(Change::Acquire(mode))
    }

    fn released(mode: Mode) -> Outcome {
        Outcome::One(Change::Release(mode))
    }

    #[test]
    fn only_the_outermost_pair_counts() {
        let mut held = Reentrancy::default();
        assert_eq!(held.acquire(L, EXCLUSIVE), acquired(EXCLUSIVE));
        assert_eq!(held.acquire(L, EXCLUSIVE), Outcome::Inner);
        assert_eq!(held.release(L, EXCLUSIVE), Outcome::Inner);
        assert_eq!(held.release(L, EXCLUSIVE), released(EXCLUSIVE));
        assert_eq!(held.release(L, EXCLUSIVE), Outcome::Unmatched(None));
        assert!(held.0.is_empty());
    }

    #[test]
    fn a_wait_gives_up_all_levels_and_takes_them_back() {
        let mut held = Reentrancy::default();
        held.acquire(L, EXCLUSIVE);
        held.acquire(L, EXCLUSIVE);
        assert_eq!(held.wait(L), Outcome::One(Change::Wait));
        assert_eq!(held.resume(L, true), Outcome::One(Change::Resume { notified: true }));
        assert_eq!(held.release(L, EXCLUSIVE), Outcome::Inner);
        assert_eq!(held.release(L, EXCLUSIVE), released(EXCLUSIVE));
    }

    #[test]
    fn a_wait_that_began_before_the_recording_ends_as_an_acquisition() {
        let mut held = Reentrancy::default();
        assert_eq!(held.wait(L), Outcome::Unmatched(None));
        assert_eq!(
            held.resume(L, true),
            Outcome::Unmatched(Some(Change::Acquire(EXCLUSIVE)))
        );
        assert_eq!(held.release(L, EXCLUSIVE), released(EXCLUSIVE));
    }

    #[test]
    fn a_downgrade_changes_the_mode() {
        let mut held = Reentrancy::default();
        assert_eq!(held.acquire(L, EXCLUSIVE), acquired(EXCLUSIVE));
        assert_eq!(held.acquire(L, SHARED), Outcome::Inner);
        assert_eq!(
            held.release(L, EXCLUSIVE),
            Outcome::Two(Change::Release(EXCLUSIVE), Change::Acquire(SHARED))
        );
        assert_eq!(held.release(L, SHARED), released(SHARED));
    }

    #[test]
    fn an_upgrade_changes_the_mode_and_back() {
        let mut held = Reentrancy::default();
        let to = |from, to| Outcome::Two(Change::Release(from), Change::Acquire(to));
        assert_eq!(held.acquire(L, SHARED), acquired(SHARED));
        assert_eq!(held.acquire(L, EXCLUSIVE), to(SHARED, EXCLUSIVE));
        assert_eq!(held.release(L, EXCLUSIVE), to(EXCLUSIVE, SHARED));
        assert_eq!(held.release(L, SHARED), released(SHARED));
    }
}
