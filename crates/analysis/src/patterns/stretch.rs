//! The locks of one thread over time: which are held at a point, which all along between two points, which at any time
//! between them. What a stretch of a unit keeps out, and what keeps it out, follow from the three.

use ravel_trace::{LockId, Mode};

use crate::locks::{HeldLock, LocksetId, Locksets};
use smallvec::SmallVec;

/// How many acquisitions between two points are looked at.
const LOOK_BACK: u32 = 16;

/// One acquisition, on top of those held before it. The acquisitions of a thread form a tree: what is held at a point
/// is a path to the root.
#[derive(Clone, Copy, Debug)]
struct Acquisition {
    below: u32,
    held: HeldLock,
    /// Number of the acquisition; kept when a lock below is given up first and the hold has to be moved.
    acquisition: u32,
    /// All locks of the path.
    all: LocksetId,
}

/// A point in a thread's life, as far as its locks go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mark {
    top: u32,
    made: u32,
}

/// The locks of one thread.
#[derive(Clone, Debug, Default)]
pub struct LockHistory {
    /// Entry 0 of the tree is "no lock" and not stored. A hold has the number of its index, one, and those forgotten.
    holds: Vec<Acquisition>,
    /// How many have been forgotten, but for those still held when they were.
    forgotten: u32,
    base: SmallVec<[(u32, Acquisition); 4]>,
    top: u32,
    acquisitions: u32,
}

impl LockHistory {
    #[inline]
    fn hold(&self, number: u32) -> Option<&Acquisition> {
        if number > self.forgotten {
            return self.holds.get((number - self.forgotten - 1) as usize);
        }
        self.base.iter().find(|(of, _)| *of == number).map(|(_, hold)| hold)
    }

    /// The number of the latest hold.
    #[inline]
    fn made(&self) -> u32 {
        self.forgotten + u32::try_from(self.holds.len()).unwrap_or(u32::MAX)
    }

    fn numbered_path(&self, from: u32) -> SmallVec<[(u32, Acquisition); 4]> {
        let mut path = SmallVec::new();
        let mut at = from;
        while let Some(&hold) = self.hold(at) {
            path.push((at, hold));
            at = hold.below;
        }
        path
    }

    /// How many holds are remembered.
    pub fn len(&self) -> usize {
        self.holds.len()
    }

    /// Forgets everything except the locks held now. A later query for older moments answers that nothing was held.
    pub fn forget(&mut self) {
        self.base = self.numbered_path(self.top);
        self.forgotten = self.made();
        self.holds.clear();
    }

    /// The part between two points, to be asked for them after it is forgotten here.
    pub fn part(&self, from: Mark, to: Mark) -> LockHistory {
        let start = from.made.saturating_sub(self.forgotten) as usize;
        let end = (to.made.saturating_sub(self.forgotten) as usize).min(self.holds.len());
        LockHistory {
            holds: self.holds[start.min(end)..end].to_vec(),
            forgotten: from.made.max(self.forgotten),
            base: self.numbered_path(from.top),
            top: to.top,
            acquisitions: self.acquisitions,
        }
    }

    fn push(&mut self, held: HeldLock, acquisition: u32, sets: &mut Locksets) {
        let all = sets.with(self.now(), held);
        self.holds.push(Acquisition {
            below: self.top,
            held,
            acquisition,
            all,
        });
        self.top = self.made();
    }

    /// A lock is taken.
    pub fn acquire(&mut self, lock: LockId, mode: Mode, sets: &mut Locksets) {
        self.acquisitions += 1;
        self.push(HeldLock { lock, mode }, self.acquisitions, sets);
    }

    /// A lock is given up; nothing happens if it is not held.
    pub fn release(&mut self, lock: LockId, sets: &mut Locksets) {
        if !self.path(self.top).any(|hold| hold.held.lock == lock) {
            return;
        }
        let mut above = Vec::new();
        while let Some(&hold) = self.hold(self.top) {
            self.top = hold.below;
            if hold.held.lock == lock {
                break;
            }
            above.push(hold);
        }
        for hold in above.into_iter().rev() {
            self.push(hold.held, hold.acquisition, sets);
        }
    }

    fn path(&self, from: u32) -> impl Iterator<Item = &Acquisition> {
        std::iter::successors(self.hold(from), |hold| self.hold(hold.below))
    }

    /// This point.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark {
            top: self.top,
            made: self.made(),
        }
    }

    /// The locks held now.
    #[inline]
    pub fn now(&self) -> LocksetId {
        self.hold(self.top).map_or(LocksetId::EMPTY, |hold| hold.all)
    }

    /// The locks held all along from one point to a later one.
    pub fn throughout(&self, from: Mark, to: Mark) -> LocksetId {
        if from.top == to.top {
            return self.hold(to.top).map_or(LocksetId::EMPTY, |hold| hold.all);
        }
        // An acquisition later than another stands above it, so what is common is the lower end of both paths.
        let common = self
            .path(to.top)
            .find(|hold| self.path(from.top).any(|old| old.acquisition == hold.acquisition));
        common.map_or(LocksetId::EMPTY, |hold| hold.all)
    }

    /// The locks held at any time between two points; of a very long stretch only the first acquisitions are known.
    pub fn during(&self, from: Mark, to: Mark, sets: &mut Locksets) -> LocksetId {
        let start = self.hold(from.top).map_or(LocksetId::EMPTY, |hold| hold.all);
        let made = (from.made + 1)..=to.made;
        let taken = made.take(LOOK_BACK as usize).filter_map(|number| self.hold(number));
        taken.fold(start, |set, hold| sets.with(set, hold.held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughout_is_what_was_never_given_up() {
        let (mut history, mut sets) = (LockHistory::default(), Locksets::default());
        history.acquire(LockId(1), Mode::Exclusive, &mut sets);
        let outer = (history.mark(), history.now());
        history.acquire(LockId(2), Mode::Exclusive, &mut sets);
        let inner = (history.mark(), history.now());
        assert_eq!(history.throughout(outer.0, inner.0), outer.1);
        history.release(LockId(2), &mut sets);
        history.acquire(LockId(2), Mode::Exclusive, &mut sets);
        let again = history.mark();
        assert_eq!(history.now(), inner.1);
        assert_eq!(history.throughout(inner.0, again), outer.1);
        assert_eq!(history.throughout(again, again), inner.1);
        history.release(LockId(2), &mut sets);
        history.release(LockId(1), &mut sets);
        assert_eq!(history.throughout(outer.0, history.mark()), LocksetId::EMPTY);
        assert_eq!(history.during(outer.0, history.mark(), &mut sets), inner.1);
    }

    #[test]
    fn a_part_answers_as_the_whole_did() {
        let (mut history, mut sets) = (LockHistory::default(), Locksets::default());
        history.acquire(LockId(1), Mode::Exclusive, &mut sets);
        history.forget();
        let first = history.mark();
        history.acquire(LockId(2), Mode::Exclusive, &mut sets);
        let second = history.mark();
        history.release(LockId(1), &mut sets);
        let third = history.mark();
        let pairs = [(first, second), (second, third), (first, third)];
        let part = history.part(first, third);
        let ask = |history: &LockHistory, sets: &mut Locksets| {
            pairs.map(|(from, to)| (history.throughout(from, to), history.during(from, to, sets)))
        };
        let before = ask(&history, &mut sets);
        history.forget();
        assert_eq!(ask(&part, &mut sets), before);
    }

    #[test]
    fn releases_out_of_order_keep_the_rest() {
        let (mut history, mut sets) = (LockHistory::default(), Locksets::default());
        history.acquire(LockId(1), Mode::Exclusive, &mut sets);
        history.acquire(LockId(2), Mode::Shared, &mut sets);
        let both = history.mark();
        history.release(LockId(1), &mut sets);
        let second = [HeldLock {
            lock: LockId(2),
            mode: Mode::Shared,
        }];
        assert_eq!(sets.locks(history.now()), second);
        assert_eq!(sets.locks(history.throughout(both, history.mark())), second);
    }
}
