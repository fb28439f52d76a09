//! Which locations lie open to other threads, as far as locks go: what lets most units of most programs be left aside
//! before their accesses are paired with each other.
//!
//! Every violation has a unit with a gap in which another thread makes a conflicting access. If all accesses of a unit are
//! to locations that nobody else can touch while the unit holds the locks that it holds from its first access to its last,
//! it has no such gap. Pairs of locations need then be looked at only if one of them lies open in some unit.

use ravel_trace::{LocationId, LockId, Mode, ThreadId};
use smallvec::SmallVec;

use crate::locks::{LocksetId, Locksets};
use crate::raw::StepKind;

/// How many different ways of access are kept whatever they are. Beyond, one is kept only if no kept one of the same thread,
/// kind and location holds a part of its locks: what a larger set lets through, a smaller one does.
const DIFFERENT: usize = 1 << 15;

#[derive(Clone, Debug)]
struct Entry<P> {
    thread: ThreadId,
    kind: StepKind,
    locks: LocksetId,
    what: P,
}

#[derive(Clone, Debug)]
struct AtLocation<P> {
    entries: SmallVec<[Entry<P>; 2]>,
    /// Locks that every access holds alone.
    guard: SmallVec<[LockId; 2]>,
    written: bool,
    shared: bool,
}

impl<P> Default for AtLocation<P> {
    fn default() -> Self {
        AtLocation {
            entries: SmallVec::new(),
            guard: SmallVec::new(),
            written: false,
            shared: false,
        }
    }
}

/// For each location, the different ways in which threads access it, with what the user wants to remember of each.
#[derive(Clone, Debug)]
pub struct Exposure<P> {
    at: Vec<AtLocation<P>>,
    different: usize,
}

impl<P> Default for Exposure<P> {
    fn default() -> Self {
        Exposure {
            at: Vec::new(),
            different: 0,
        }
    }
}

impl<P: Default> Exposure<P> {
    /// Takes an access in; gives what is remembered of its like, or nothing if its like is not kept.
    #[inline]
    pub fn note(
        &mut self,
        location: LocationId,
        thread: ThreadId,
        kind: StepKind,
        locks: LocksetId,
        sets: &Locksets,
    ) -> Option<&mut P> {
        if self.at.len() <= location.index() {
            self.at.resize_with(location.index() + 1, AtLocation::default);
        }
        let at = &mut self.at[location.index()];
        let alike = |entry: &Entry<P>| entry.thread == thread && entry.kind == kind;
        let known = match at.entries.iter().position(|entry| alike(entry) && entry.locks == locks) {
            Some(known) => known,
            None => {
                let covers = |entry: &Entry<P>| alike(entry) && is_within(sets, entry.locks, locks);
                if self.different >= DIFFERENT && at.entries.iter().any(covers) {
                    return None;
                }
                self.different += 1;
                at.add(
                    Entry {
                        thread,
                        kind,
                        locks,
                        what: P::default(),
                    },
                    sets,
                );
                at.entries.len() - 1
            }
        };
        Some(&mut at.entries[known].what)
    }

    /// Whether another thread makes an access that conflicts with this one, under locks that `compatible` accepts. `keeps`
    /// says whether a lock is held meanwhile, and is asked first.
    pub fn is_open(
        &self,
        location: LocationId,
        thread: ThreadId,
        writes: bool,
        keeps: impl Fn(LockId) -> bool,
        compatible: impl Fn(LocksetId) -> bool,
    ) -> bool {
        let Some(at) = self.at.get(location.index()) else {
            return false;
        };
        if !at.shared || !(at.written || writes) || at.guard.iter().any(|&lock| keeps(lock)) {
            return false;
        }
        at.entries
            .iter()
            .any(|entry| entry.thread != thread && (entry.kind.writes() || writes) && compatible(entry.locks))
    }

    /// Every way of access kept at a location, as (thread, kind, locks, what is remembered).
    pub fn at(&self, location: LocationId) -> impl Iterator<Item = (ThreadId, StepKind, LocksetId, &P)> {
        let entries = self.at.get(location.index()).into_iter().flat_map(|at| &at.entries);
        entries.map(|entry| (entry.thread, entry.kind, entry.locks, &entry.what))
    }

    /// The locations that several threads access and one writes.
    pub fn conflicting(&self) -> impl Iterator<Item = LocationId> {
        let wanted = |(_, at): &(usize, &AtLocation<P>)| at.shared && at.written;
        self.at
            .iter()
            .enumerate()
            .filter(wanted)
            .map(|(location, _)| LocationId::from(location))
    }

    /// Whether more than one thread has accessed the location so far.
    pub fn is_shared(&self, location: LocationId) -> bool {
        self.at.get(location.index()).is_some_and(|at| at.shared)
    }
}

impl<P> AtLocation<P> {
    fn add(&mut self, entry: Entry<P>, sets: &Locksets) {
        let alone = |lock: LockId| {
            sets.locks(entry.locks)
                .iter()
                .any(|held| held.lock == lock && held.mode == Mode::Exclusive)
        };
        if self.entries.is_empty() {
            let locks = sets.locks(entry.locks).iter().map(|held| held.lock);
            self.guard = locks.filter(|&lock| alone(lock)).collect();
        } else {
            self.guard.retain(|lock| alone(*lock));
        }
        self.written |= entry.kind.writes();
        self.shared |= self.entries.first().is_some_and(|first| first.thread != entry.thread);
        self.entries.push(entry);
    }
}

/// Whether one set of locks is part of another.
fn is_within(sets: &Locksets, small: LocksetId, large: LocksetId) -> bool {
    let large = sets.locks(large);
    sets.locks(small).iter().all(|lock| large.contains(lock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::Held;

    #[test]
    fn only_conflicting_accesses_of_others_that_locks_let_in_count() {
        let (mut exposure, mut sets) = (Exposure::<()>::default(), Locksets::default());
        let held = Held {
            lock: LockId(7),
            mode: Mode::Exclusive,
        };
        let locked = sets.with(LocksetId::EMPTY, held);
        let (here, other) = (ThreadId(0), ThreadId(1));
        let never = |_: LockId| false;
        exposure.note(LocationId(3), here, StepKind::Write, LocksetId::EMPTY, &sets);
        assert!(!exposure.is_shared(LocationId(3)));
        assert!(!exposure.is_open(LocationId(3), here, true, never, |_| true));
        exposure.note(LocationId(3), other, StepKind::Read, locked, &sets);
        assert!(exposure.is_open(LocationId(3), here, true, never, |locks| locks == locked));
        assert!(!exposure.is_open(LocationId(3), here, true, never, |locks| locks != locked));
        assert!(!exposure.is_open(LocationId(3), here, false, never, |_| true));
        assert!(exposure.is_open(LocationId(3), other, false, never, |_| true));
        assert!(!exposure.is_open(LocationId(9), here, true, never, |_| true));
        assert!(exposure.is_shared(LocationId(3)));
    }

    #[test]
    fn a_lock_that_all_hold_closes_a_location_to_who_keeps_it() {
        let (mut exposure, mut sets) = (Exposure::<()>::default(), Locksets::default());
        let mut with = |set, lock| {
            sets.with(
                set,
                Held {
                    lock: LockId(lock),
                    mode: Mode::Exclusive,
                },
            )
        };
        let one = with(LocksetId::EMPTY, 1);
        let both = with(one, 2);
        let two = with(LocksetId::EMPTY, 2);
        exposure.note(LocationId(0), ThreadId(0), StepKind::Write, both, &sets);
        exposure.note(LocationId(0), ThreadId(1), StepKind::Write, one, &sets);
        let open = |exposure: &Exposure<()>| {
            exposure.is_open(LocationId(0), ThreadId(0), true, |lock| lock == LockId(1), |_| true)
        };
        assert!(!open(&exposure));
        exposure.note(LocationId(0), ThreadId(1), StepKind::Write, two, &sets);
        assert!(open(&exposure));
    }
}
