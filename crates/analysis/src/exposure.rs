//! Which locations other threads can access in the gaps of a unit, as far as locks go. Most units of most programs have no such
//! location and are skipped before their accesses are paired with each other.
//!
//! Every violation has a unit with a gap in which another thread makes a conflicting access. If all accesses of a unit are
//! to locations that no other thread can access while the unit holds the locks that it holds from its first access to its last,
//! it has no such gap. Pairs of locations matter only if one of them is exposed in some unit.

use ravel_trace::{LocationId, LockId, Mode, SiteId, ThreadId};
use smallvec::SmallVec;

use crate::locks::{LockTable, LocksetId};
use crate::order::ClockId;
use crate::raw::StepKind;

/// How many different ways of access are kept per location; more are counted.
pub const WAYS: usize = 512;

/// How many ways of one thread and kind are kept before one that holds more locks than another in the same moment is left to that one.
pub const FEW_ALIKE: usize = 4;

/// What [`Exposure::let_go_of_opened`] counts, for the user.
pub const LET_GO: &str = "steps of units let go before another thread came to their variables";

/// What [`Exposure::left_out`] counts, for the user.
pub const TOO_MANY_WAYS: &str = "accesses to variables that are accessed in too many ways";

/// Thread, kind and locks of an access as one number, so that all ways at a location can be looked through quickly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WayKey(u64);

/// The kinds of access, by the lowest bits of a [`WayKey`].
const KINDS: [StepKind; 3] = [StepKind::Read, StepKind::Write, StepKind::Update];

/// The ways of access at one location.
#[derive(Clone, Debug)]
struct Ways<P> {
    keys: Vec<WayKey>,
    /// Where and in which moment each came last.
    latest: Vec<(SiteId, ClockId)>,
    /// What is remembered of each.
    what: Vec<P>,
}

impl<P> Default for Ways<P> {
    fn default() -> Self {
        Ways {
            keys: Vec::new(),
            latest: Vec::new(),
            what: Vec::new(),
        }
    }
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
/// a larger set lets through, a smaller one does. Where a thread has [many ways](FEW_ALIKE), the place does not matter either: whatever
/// the access could be part of, the one with fewer locks can be in its stead, since locks only ever forbid and the moment is the same.
/// Only its place in code is not named then.
#[derive(Clone, Debug)]
pub struct Exposure<P> {
    at: Vec<Summary>,
    /// Whether several threads access a location, one writes it, and no lock is held by all: without that, no thread can come to
    /// it while a unit keeps all the locks that it holds.
    unguarded: Vec<bool>,
    entries: Vec<Ways<P>>,
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

impl WayKey {
    /// Threads have far fewer than 2^30 numbers.
    #[inline]
    fn of(way: &Way) -> Self {
        let kind = KINDS.iter().position(|kind| *kind == way.kind).unwrap_or(KINDS.len());
        WayKey(u64::from(way.locks.0) << 32 | u64::from(way.thread.0) << 2 | kind as u64)
    }

    fn locks(self) -> LocksetId {
        LocksetId((self.0 >> 32) as u32)
    }

    fn thread(self) -> ThreadId {
        ThreadId(self.0 as u32 >> 2)
    }

    fn kind(self) -> StepKind {
        KINDS.get(self.0 as usize & 3).copied().unwrap_or(StepKind::Update)
    }

    /// Whether thread and kind are the same.
    fn is_like(self, other: WayKey) -> bool {
        self.0 as u32 == other.0 as u32
    }
}

impl<P: Default> Ways<P> {
    /// Whether the access adds nothing to the ways that are kept.
    fn stand_for(&self, way: &Way, sets: &LockTable) -> bool {
        let key = WayKey::of(way);
        let alike = || (0..).zip(&self.keys).filter(|(_, known)| known.is_like(key));
        let many = alike().nth(FEW_ALIKE - 1).is_some();
        let holds_less = |known: WayKey| sets.is_subset(known.locks(), way.locks);
        alike().any(|(at, known): (usize, &WayKey)| {
            let (site, clock) = self.latest[at];
            clock == way.clock && (many || site == way.site) && holds_less(*known)
        })
    }

    fn push(&mut self, way: &Way, sets: &LockTable) -> &mut P {
        let key = WayKey::of(way);
        // Where only the locks matter, those that hold more are not needed any more.
        if size_of::<P>() == 0 {
            let within = |known: &WayKey| known.is_like(key) && sets.is_subset(way.locks, known.locks());
            while let Some(at) = self.keys.iter().position(within) {
                self.keys.remove(at);
                self.latest.remove(at);
                self.what.remove(at);
            }
        }
        if self.keys.capacity() == 0 {
            // Most locations are one thread's.
            self.keys.reserve_exact(1);
            self.latest.reserve_exact(1);
            self.what.reserve_exact(1);
        }
        self.keys.push(key);
        self.latest.push((way.site, way.clock));
        self.what.push(P::default());
        let last = self.what.len() - 1;
        &mut self.what[last]
    }
}

impl<P: Default> Exposure<P> {
    /// Takes an access in; gives what is remembered of its like, or nothing if it adds nothing.
    pub fn note(&mut self, way: &Way, sets: &LockTable) -> Option<&mut P> {
        let index = way.location.index();
        if self.at.len() <= index {
            self.at.resize_with(index + 1, Summary::default);
            self.unguarded.resize(index + 1, false);
            self.entries.resize_with(index + 1, Ways::default);
        }
        let ways = &mut self.entries[index];
        let key = WayKey::of(way);
        if let Some(known) = ways.keys.iter().position(|known| *known == key) {
            let now = (way.site, way.clock);
            let before = std::mem::replace(&mut ways.latest[known], now);
            return (before != now).then_some(&mut ways.what[known]);
        }
        if ways.stand_for(way, sets) {
            return None;
        }
        if ways.keys.len() >= WAYS {
            self.left_out += 1;
            return None;
        }
        self.at[index].take_in(way, sets, ways.keys.first().map(|first| first.thread()));
        self.unguarded[index] = self.at[index].is_unguarded();
        Some(ways.push(way, sets))
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
            .keys
            .iter()
            .any(|key| key.thread() != thread && (key.kind().writes() || writes) && compatible(key.locks()))
    }

    /// Every way of access kept at a location, as (thread, kind, locks, what is remembered).
    pub fn at(&self, location: LocationId) -> impl Iterator<Item = (ThreadId, StepKind, LocksetId, &P)> {
        let ways = self.entries.get(location.index()).into_iter();
        ways.flat_map(|ways| ways.keys.iter().zip(&ways.what))
            .map(|(key, what)| (key.thread(), key.kind(), key.locks(), what))
    }

    /// The same, to take from what is remembered.
    pub fn at_mut(&mut self, location: LocationId) -> impl Iterator<Item = (ThreadId, StepKind, LocksetId, &mut P)> {
        let ways = self.entries.get_mut(location.index()).into_iter();
        ways.flat_map(|ways| ways.keys.iter().zip(&mut ways.what))
            .map(|(key, what)| (key.thread(), key.kind(), key.locks(), what))
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
    use crate::locks::{HeldLock, Locksets};

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

    fn exclusive(lock: u32) -> HeldLock {
        HeldLock {
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

    #[test]
    fn of_many_ways_in_one_moment_the_one_with_the_fewest_locks_stands_for_the_others() {
        let (mut exposure, mut sets) = (Exposure::<u32>::default(), Locksets::default());
        let guard = sets.with(LocksetId::EMPTY, exclusive(9_999));
        let mut note = |exposure: &mut Exposure<u32>, more: u32, site: u32, clock: u32| {
            let locks = match more {
                0 => guard,
                more => sets.with(guard, exclusive(more)),
            };
            let way = Way {
                site: SiteId(site),
                clock: ClockId(clock),
                ..way(0, StepKind::Write, locks)
            };
            exposure.note(&way, &sets).is_some()
        };
        // Without one that has fewer locks, each is kept, however many there are.
        for more in 1..=40 {
            assert!(note(&mut exposure, more, more, 1));
        }
        assert!(note(&mut exposure, 0, 50, 1));
        for more in 41..2_000 {
            assert!(!note(&mut exposure, more, more, 1), "{more}");
        }
        // In another moment it is something new, and so is its like in a place that is not known.
        assert!(note(&mut exposure, 3_000, 60, 2));
        assert!(note(&mut exposure, 0, 61, 2));
        assert!(!note(&mut exposure, 3_001, 62, 2));
        assert_eq!((exposure.at(LocationId(3)).count(), exposure.left_out()), (42, 0));
    }
}
