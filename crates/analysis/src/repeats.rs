//! Accesses that add no information, recognised by a comparison of a few bytes.
//!
//! To the analyses of what *could* happen, an access is a repetition if the same thread has accessed the same location in the
//! same way, at the same place in code, with no edge of the hard order since, holding no other locks than now: what a
//! larger set of locks lets through, a smaller one does. Nearly all accesses are. Per location 24 bytes are kept, so that
//! those of thousands of locations stay in the cache; the caller checks the accesses that do not fit there in full.

use crate::engine::Access;
use crate::locks::{LockTable, LocksetId};
use crate::raw::StepKind;
use ravel_trace::{LocationId, SiteId, ThreadId};

/// What was seen last of a location.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// A bit for each thread and kind seen under these locks or a part of them, at these sites, in this epoch.
    mask: u64,
    locks: LocksetId,
    /// Where it is read and where written.
    sites: [SiteId; 2],
    epoch: u32,
}

/// The locations.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    at: Vec<Slot>,
}

/// An access, as far as it matters here. A caller that ignores sites or epochs passes the same for all.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The cell.
    pub location: LocationId,
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: StepKind,
    /// Where.
    pub site: SiteId,
    /// The locks held.
    pub locks: LocksetId,
    /// How many edges the hard order has had so far.
    pub epoch: u32,
}

impl Seen {
    /// Everything of an access that can matter.
    pub fn of(access: &Access) -> Seen {
        Seen {
            location: access.location,
            thread: access.thread(),
            kind: access.point.kind,
            site: access.point.site,
            locks: access.point.locks,
            epoch: access.epoch,
        }
    }
}

impl Repeats {
    /// Whether an access is known to be a repetition; if not, its like may be from now on.
    #[inline]
    pub fn is_repeated(&mut self, seen: &Seen, sets: &LockTable) -> bool {
        let index = seen.location.index();
        if self.at.len() <= index {
            self.at.resize(index + 1, Slot::default());
        }
        // An update is both, and rare; threads beyond the width of the mask are looked at by the caller.
        if seen.kind == StepKind::Update || seen.thread.index() >= 32 {
            return false;
        }
        let way = seen.kind as usize;
        let bit = 1 << (2 * seen.thread.index() + way);
        let slot = &mut self.at[index];
        if slot.epoch == seen.epoch && slot.sites[way] == seen.site {
            if slot.locks == seen.locks {
                let known = slot.mask & bit != 0;
                slot.mask |= bit;
                return known;
            }
            if slot.mask & bit != 0 && sets.is_subset(slot.locks, seen.locks) {
                return true;
            }
        }
        slot.renew(seen, way, bit, sets);
        false
    }
}

impl Repeats {
    /// Takes nothing that was seen of a location for known any more.
    pub fn forget(&mut self, location: LocationId) {
        if let Some(slot) = self.at.get_mut(location.index()) {
            slot.mask = 0;
        }
    }
}

/// The bits of all reads; those of writes are one place higher.
const READS: u64 = 0x5555_5555_5555_5555;

impl Slot {
    #[cold]
    fn renew(&mut self, seen: &Seen, way: usize, bit: u64, sets: &LockTable) {
        if self.epoch != seen.epoch || self.mask == 0 {
            *self = Slot {
                epoch: seen.epoch,
                locks: seen.locks,
                ..Slot::default()
            };
        } else if self.locks != seen.locks {
            if !sets.is_subset(seen.locks, self.locks) {
                return;
            }
            // Fewer locks than so far: from now on those count.
            self.locks = seen.locks;
            self.mask = 0;
        }
        if self.sites[way] != seen.site {
            self.mask &= !(READS << way);
            self.sites[way] = seen.site;
        }
        self.mask |= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::{HeldLock, Locksets};
    use ravel_trace::{LockId, Mode};

    #[test]
    fn only_the_same_again_under_no_fewer_locks_is_a_repetition() {
        let (mut repeats, mut sets) = (Repeats::default(), Locksets::default());
        let held = |lock| HeldLock {
            lock: LockId(lock),
            mode: Mode::Exclusive,
        };
        let one = sets.with(LocksetId::EMPTY, held(1));
        let both = sets.with(one, held(2));
        let seen = |thread, kind, site, locks, epoch| Seen {
            location: LocationId(5),
            thread: ThreadId(thread),
            kind,
            site: SiteId(site),
            locks,
            epoch,
        };
        let mut again = |seen: Seen| repeats.is_repeated(&seen, &sets);
        let (read, write) = (StepKind::Read, StepKind::Write);
        assert!(!again(seen(0, read, 1, both, 0)));
        assert!(again(seen(0, read, 1, both, 0)));
        assert!(!again(seen(1, read, 1, both, 0)), "another thread");
        assert!(!again(seen(0, write, 1, both, 0)), "another kind");
        assert!(!again(seen(0, read, 1, one, 0)), "fewer locks");
        assert!(again(seen(0, read, 1, both, 0)), "more locks than known");
        assert!(!again(seen(1, read, 1, one, 0)), "another thread with fewer locks");
        assert!(!again(seen(0, read, 2, one, 0)), "another site");
        assert!(!again(seen(1, read, 2, one, 0)), "the other thread there");
        assert!(!again(seen(0, read, 2, one, 1)), "another moment");
        assert!(again(seen(0, read, 2, one, 1)));
        assert!(!again(seen(0, StepKind::Update, 2, one, 1)));
        assert!(!again(seen(40, read, 2, one, 1)));
        assert!(!again(seen(40, read, 2, one, 1)), "too many threads to know");
    }
}
