//! Which locations lie open to other threads, as far as locks go: what lets most units of most programs be left aside
//! before their accesses are paired with each other.
//!
//! Every violation has a unit with a gap in which another thread makes a conflicting access. If all accesses of a unit are
//! to locations that nobody else can touch while the unit holds the locks that it holds from its first access to its last,
//! it has no such gap. Pairs of locations need then be looked at only if one of them lies open in some unit.

use ravel_trace::{LocationId, ThreadId};
use smallvec::SmallVec;

#[derive(Clone, Copy, Debug)]
struct Entry<L> {
    thread: ThreadId,
    writes: bool,
    locks: L,
}

/// For each location, the different ways in which threads access it.
#[derive(Clone, Debug)]
pub struct Exposure<L> {
    at: Vec<SmallVec<[Entry<L>; 2]>>,
}

impl<L> Default for Exposure<L> {
    fn default() -> Self {
        Exposure { at: Vec::new() }
    }
}

impl<L: Copy + PartialEq> Exposure<L> {
    /// Takes an access in.
    #[inline]
    pub fn note(&mut self, location: LocationId, thread: ThreadId, writes: bool, locks: L) {
        if self.at.len() <= location.index() {
            self.at.resize_with(location.index() + 1, SmallVec::new);
        }
        let entries = &mut self.at[location.index()];
        let known = |entry: &Entry<L>| entry.thread == thread && entry.writes == writes && entry.locks == locks;
        if !entries.iter().any(known) {
            entries.push(Entry { thread, writes, locks });
        }
    }

    /// Whether another thread makes an access that conflicts with this one, under locks that `compatible` accepts.
    pub fn is_open(
        &self,
        location: LocationId,
        thread: ThreadId,
        writes: bool,
        compatible: impl Fn(L) -> bool,
    ) -> bool {
        let entries = self
            .at
            .get(location.index())
            .map_or(&[][..], |entries| entries.as_slice());
        entries
            .iter()
            .any(|entry| entry.thread != thread && (entry.writes || writes) && compatible(entry.locks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_conflicting_accesses_of_others_that_locks_let_in_count() {
        let mut exposure: Exposure<u32> = Exposure::default();
        let (here, other) = (ThreadId(0), ThreadId(1));
        exposure.note(LocationId(3), here, true, 0);
        assert!(!exposure.is_open(LocationId(3), here, true, |_| true));
        exposure.note(LocationId(3), other, false, 7);
        assert!(exposure.is_open(LocationId(3), here, true, |locks| locks == 7));
        assert!(!exposure.is_open(LocationId(3), here, true, |locks| locks != 7));
        assert!(!exposure.is_open(LocationId(3), here, false, |_| true));
        assert!(exposure.is_open(LocationId(3), other, false, |_| true));
        assert!(!exposure.is_open(LocationId(9), here, true, |_| true));
    }
}
