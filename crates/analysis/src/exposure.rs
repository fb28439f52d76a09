//! Which locations lie open to other threads, as far as locks go: what lets most units of most programs be left aside
//! before their accesses are paired with each other.
//!
//! Every violation has a unit with a gap in which another thread makes a conflicting access. If all accesses of a unit are
//! to locations that nobody else can touch while the unit holds the locks that it holds from its first access to its last,
//! it has no such gap. Pairs of locations need then be looked at only if one of them lies open in some unit.

use ravel_trace::{LocationId, LockId, Mode, SiteId, ThreadId};
use smallvec::SmallVec;

use crate::locks::{LockTable, LocksetId};
use crate::order::ClockId;
use crate::raw::StepKind;

/// How many different ways of access are kept per location; more are counted.
pub const WAYS: usize = 512;

/// What [`Exposure::let_go_of_opened`] counts, for the user.
pub const LET_GO: &str = "steps of units let go before another thread came to their variables";

/// What [`Exposure::left_out`] counts, for the user.
pub const TOO_MANY_WAYS: &str = "accesses to variables that are accessed in too many ways";

#[derive(Clone, Debug)]
struct ExposedAccess<P> {
    thread: ThreadId,
    kind: StepKind,
    locks: LocksetId,
    /// Where and in which moment it came last.
    latest: (SiteId, ClockId),
    what: P,
}

/// What is asked for often.
#[derive(Clone, Debug, Default)]
struct Summary {
    /// Locks that every access holds alone.
    guard: SmallVec<[LockId; 2]>,
    /// Steps on it in units that were let go.
    let_go: u32,
    written: bool,
    shared: bool,
    /// Whether some unit was found to have it open.
    opened: bool,
}

/// An access, as far as it matters here. A site or clock of 0 says that those do not matter.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The cell.
    pub location: LocationId,
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: StepKind,
    /// The locks held.
    pub locks: LocksetId,
    /// Where.
    pub site: SiteId,
    /// What the thread knew of the hard order.
    pub clock: ClockId,
}

/// For each location, the different ways in which threads access it, with what the user wants to remember of each. What is
/// done under more locks than the same thread holds elsewhere, at the same place in the same moment, is no other way: what
/// a larger set lets through, a smaller one does.
#[derive(Clone, Debug)]
pub struct Exposure<P> {
    at: Vec<Summary>,
    /// Whether several threads access a location, one writes it, and no lock is held by all: without that, nobody can come to
    /// it while a unit keeps all the locks that it holds.
    unguarded: Vec<bool>,
    entries: Vec<Vec<ExposedAccess<P>>>,
    left_out: u64,
}

impl<P> Default for Exposure<P> {
    fn default() -> Self {
        Exposure {
            at: Vec::new(),
            unguarded: Vec::new(),
            entries: Vec::new(),
            left_out: 0,
        }
    }
}

impl<P: Default> Exposure<P> {
    /// Takes an access in; gives what is remembered of its like, or nothing if it adds nothing.
    pub fn note(&mut self, way: &Way, sets: &LockTable) -> Option<&mut P> {
        let index = way.location.index();
        if self.at.len() <= index {
            self.at.resize_with(index + 1, Summary::default);
            self.unguarded.resize(index + 1, false);
            self.entries.resize_with(index + 1, Vec::new);
        }
        let entries = &mut self.entries[index];
        let mut same = None;
        for (i, entry) in entries.iter().enumerate() {
            if entry.covers(way, sets) {
                return None;
            }
            if entry.is_like(way) && entry.locks == way.locks {
                same = Some(i);
            }
        }
        let known = match same {
            Some(known) => known,
            None if entries.len() >= WAYS => {
                self.left_out += 1;
                return None;
            }
            None => {
                self.at[index].take_in(way, sets, entries.first().map(|first| first.thread));
                self.unguarded[index] = self.at[index].is_unguarded();
                if size_of::<P>() == 0 {
                    let within =
                        |entry: &ExposedAccess<P>| entry.is_like(way) && sets.is_subset(way.locks, entry.locks);
                    entries.retain(|entry| !within(entry));
                }
                if entries.capacity() == 0 {
                    // Most locations are one thread's.
                    entries.reserve_exact(1);
                }
                entries.push(ExposedAccess {
                    thread: way.thread,
                    kind: way.kind,
                    locks: way.locks,
                    latest: (way.site, way.clock),
                    what: P::default(),
                });
                entries.len() - 1
            }
        };
        let entry = &mut entries[known];
        entry.latest = (way.site, way.clock);
        Some(&mut entry.what)
    }

    /// How many ways of access were left out because a location had too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// A unit with a step on the location is let go, because nothing in it lies open so far.
    pub fn let_go(&mut self, location: LocationId) {
        if let Some(at) = self.at.get_mut(location.index()) {
            at.let_go = at.let_go.saturating_add(1);
        }
    }

    /// Steps let go on locations that turned out to lie open in some unit: what was lost thereby, if anything was.
    pub fn let_go_of_opened(&self) -> u64 {
        self.let_go_where(|at| at.opened)
    }

    /// Steps let go on locations that turned out to have no lock that all hold.
    pub fn let_go_of_unguarded(&self) -> u64 {
        self.let_go_where(Summary::is_unguarded)
    }

    fn let_go_where(&self, lost: impl Fn(&Summary) -> bool) -> u64 {
        self.at
            .iter()
            .filter(|at| lost(at))
            .map(|at| u64::from(at.let_go))
            .sum()
    }

    /// Remembers that some unit has the location open.
    pub fn open_up(&mut self, location: LocationId) {
        if let Some(at) = self.at.get_mut(location.index()) {
            at.opened = true;
        }
    }

    /// Whether several threads access the location, one writes it, and no lock is held by all. If not, an access to it races
    /// with none, and a unit that keeps its locks all along does not have it open.
    #[inline]
    pub fn is_unguarded(&self, location: LocationId) -> bool {
        self.unguarded.get(location.index()).is_some_and(|unguarded| *unguarded)
    }

    /// Whether some unit was found to have the location open.
    #[inline]
    pub fn was_opened(&self, location: LocationId) -> bool {
        self.at.get(location.index()).is_some_and(|at| at.opened)
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
        self.entries[location.index()]
            .iter()
            .any(|entry| entry.thread != thread && (entry.kind.writes() || writes) && compatible(entry.locks))
    }

    /// Every way of access kept at a location, as (thread, kind, locks, what is remembered).
    pub fn at(&self, location: LocationId) -> impl Iterator<Item = (ThreadId, StepKind, LocksetId, &P)> {
        let entries = self.entries.get(location.index()).into_iter().flatten();
        entries.map(|entry| (entry.thread, entry.kind, entry.locks, &entry.what))
    }

    /// The same, to take from what is remembered.
    pub fn at_mut(&mut self, location: LocationId) -> impl Iterator<Item = (ThreadId, StepKind, LocksetId, &mut P)> {
        let entries = self.entries.get_mut(location.index()).into_iter().flatten();
        entries.map(|entry| (entry.thread, entry.kind, entry.locks, &mut entry.what))
    }

    /// The locations that several threads access and one writes.
    pub fn conflicting(&self) -> impl Iterator<Item = LocationId> {
        let wanted = |(_, at): &(usize, &Summary)| at.shared && at.written;
        self.at
            .iter()
            .enumerate()
            .filter(wanted)
            .map(|(location, _)| LocationId::from(location))
    }
}

impl<P> ExposedAccess<P> {
    #[inline]
    fn is_like(&self, way: &Way) -> bool {
        self.thread == way.thread && self.kind == way.kind
    }

    #[inline]
    fn covers(&self, way: &Way, sets: &LockTable) -> bool {
        self.is_like(way)
            && self.latest == (way.site, way.clock)
            && (self.locks == way.locks || sets.is_subset(self.locks, way.locks))
    }
}

impl Summary {
    fn is_unguarded(&self) -> bool {
        self.shared && self.written && self.guard.is_empty()
    }

    /// Takes a new way of access in; `first` is the thread of the first there was.
    fn take_in(&mut self, way: &Way, sets: &LockTable, first: Option<ThreadId>) {
        let held = sets.locks(way.locks);
        let alone = |lock: LockId| {
            held.iter()
                .any(|held| held.lock == lock && held.mode == Mode::Exclusive)
        };
        if first.is_none() {
            let locks = held.iter().map(|held| held.lock);
            self.guard = locks.filter(|&lock| alone(lock)).collect();
        } else {
            self.guard.retain(|lock| alone(*lock));
        }
        self.written |= way.kind.writes();
        self.shared |= first.is_some_and(|first| first != way.thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::{Held, Locksets};

    fn way(thread: u32, kind: StepKind, locks: LocksetId) -> Way {
        Way {
            location: LocationId(3),
            thread: ThreadId(thread),
            kind,
            locks,
            site: SiteId(0),
            clock: ClockId(0),
        }
    }

    fn exclusive(lock: u32) -> Held {
        Held {
            lock: LockId(lock),
            mode: Mode::Exclusive,
        }
    }

    #[test]
    fn only_conflicting_accesses_of_others_that_locks_let_in_count() {
        let (mut exposure, mut sets) = (Exposure::<()>::default(), Locksets::default());
        let locked = sets.with(LocksetId::EMPTY, exclusive(7));
        let (here, other) = (ThreadId(0), ThreadId(1));
        let never = |_: LockId| false;
        exposure.note(&way(0, StepKind::Write, LocksetId::EMPTY), &sets);
        assert!(!exposure.is_open(LocationId(3), here, true, never, |_| true));
        exposure.note(&way(1, StepKind::Read, locked), &sets);
        assert!(exposure.is_open(LocationId(3), here, true, never, |locks| locks == locked));
        assert!(!exposure.is_open(LocationId(3), here, true, never, |locks| locks != locked));
        assert!(!exposure.is_open(LocationId(3), here, false, never, |_| true));
        assert!(exposure.is_open(LocationId(3), other, false, never, |_| true));
        assert!(!exposure.is_open(LocationId(9), here, true, never, |_| true));
    }

    #[test]
    fn a_lock_that_all_hold_closes_a_location_to_who_keeps_it() {
        let (mut exposure, mut sets) = (Exposure::<()>::default(), Locksets::default());
        let one = sets.with(LocksetId::EMPTY, exclusive(1));
        let both = sets.with(one, exclusive(2));
        let two = sets.with(LocksetId::EMPTY, exclusive(2));
        exposure.note(&way(0, StepKind::Write, both), &sets);
        exposure.note(&way(1, StepKind::Write, one), &sets);
        let open = |exposure: &Exposure<()>| {
            exposure.is_open(LocationId(3), ThreadId(0), true, |lock| lock == LockId(1), |_| true)
        };
        assert!(!open(&exposure));
        exposure.note(&way(1, StepKind::Write, two), &sets);
        assert!(open(&exposure));
    }

    #[test]
    fn what_holds_more_locks_at_the_same_place_and_moment_is_nothing_new() {
        let (mut exposure, mut sets) = (Exposure::<u32>::default(), Locksets::default());
        let one = sets.with(LocksetId::EMPTY, exclusive(1));
        let both = sets.with(one, exclusive(2));
        assert!(exposure.note(&way(0, StepKind::Read, one), &sets).is_some());
        assert!(exposure.note(&way(0, StepKind::Read, both), &sets).is_none());
        assert!(exposure.note(&way(1, StepKind::Read, both), &sets).is_some());
        let later = Way {
            clock: ClockId(1),
            ..way(0, StepKind::Read, both)
        };
        assert!(exposure.note(&later, &sets).is_some());
    }
}
