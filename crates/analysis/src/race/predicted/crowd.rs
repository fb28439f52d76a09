//! What is known of a location that is accessed at very many places: who accessed it, how and under which locks.
//!
//! Whether a later access of another thread races with an earlier one depends on thread, kind, locks and moment of the earlier
//! one, not on its place. So of accesses that are equal in the first three the latest stands for all, and one under fewer locks, at least as
//! late, stands for one under more. How many are left does not depend on how much code there is.
//!
//! **Bound**, a possible miss and counted: [`VARIANTS`] sets of locks of one thread and kind; none contains another.

use ravel_trace::ThreadId;

use super::LIMIT;
use crate::locks::{LockTable, LocksetId};
use crate::raw::Point;

/// Sets of locks remembered of one thread and kind.
pub const VARIANTS: usize = 32;

/// The key of no access.
pub(super) const NOBODY: u64 = u64::MAX;

/// The slot of a kind of access where there are too many.
#[inline]
pub(super) fn slot(key: u64, locks: LocksetId) -> usize {
    let mixed = (key ^ u64::from(locks.0).rotate_left(20)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % LIMIT
}

/// The accesses that stand for all, with their moments.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    all: Vec<(Point, u32)>,
    /// Accesses that had to make room.
    pub(super) forgotten: u64,
}

impl Crowd {
    /// The accesses that stand for all.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Point, u32)> {
        self.all.iter().map(|(point, time)| (point, *time))
    }

    /// Takes an access in, the latest of its thread.
    pub(super) fn note(&mut self, sets: &LockTable, point: &Point, time: u32) {
        let like = |thread: ThreadId, kind| thread == point.thread && kind == point.kind;
        let mut variants = 0;
        let mut stalest: Option<usize> = None;
        let mut i = 0;
        while i < self.all.len() {
            let (known, at) = &mut self.all[i];
            if !like(known.thread, known.kind) {
                i += 1;
                continue;
            }
            if known.locks == point.locks {
                (*known, *at) = (*point, time);
                return;
            }
            if *at == time && sets.is_subset(known.locks, point.locks) {
                return;
            }
            if *at <= time && sets.is_subset(point.locks, known.locks) {
                self.all.swap_remove(i);
                continue;
            }
            variants += 1;
            if stalest.is_none_or(|stalest| self.all[i].0.index < self.all[stalest].0.index) {
                stalest = Some(i);
            }
            i += 1;
        }
        match stalest.filter(|_| variants >= VARIANTS) {
            Some(stalest) => {
                self.all[stalest] = (*point, time);
                self.forgotten += 1;
            }
            None => self.all.push((*point, time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::{HeldLock, Locksets};
    use crate::raw::StepKind;
    use crate::stacks::StackId;
    use fastrand::Rng;
    use ravel_trace::{LockId, Mode, SiteId};

    /// 2,000 lists of accesses: of any later access, those that stand for all race exactly if some access does.
    #[test]
    fn those_that_stand_for_all_race_exactly_if_one_does() {
        let mut sets = Locksets::default();
        let held = |lock| HeldLock {
            lock: LockId(lock),
            mode: Mode::Exclusive,
        };
        let subsets: Vec<LocksetId> = (0..16u32)
            .map(|bits| sets.intern((0..4).filter(|lock| bits >> lock & 1 == 1).map(held).collect()))
            .collect();
        let mut raced = 0;
        for seed in 0..2_000 {
            let mut rng = Rng::with_seed(seed);
            let (mut crowd, mut all) = (Crowd::default(), Vec::new());
            let mut times = [1u32; 3];
            for index in 0..rng.u64(1..30) {
                let thread = rng.u32(..3);
                times[thread as usize] += u32::from(rng.usize(..4) == 0);
                let point = Point {
                    index,
                    position: 0,
                    thread: ThreadId(thread),
                    site: SiteId(rng.u32(..9)),
                    locks: subsets[rng.usize(..16)],
                    stack: StackId::default(),
                    kind: [StepKind::Read, StepKind::Write][rng.usize(..2)],
                };
                let time = times[thread as usize];
                crowd.note(&sets, &point, time);
                all.push((point, time));
            }
            for _ in 0..8 {
                let (thread, locks, writes) = (rng.u32(..3), subsets[rng.usize(..16)], rng.bool());
                let knows = [rng.u32(..8), rng.u32(..8), rng.u32(..8)];
                let races = |(point, time): &(Point, u32)| {
                    point.thread.0 != thread
                        && (writes || point.kind.writes())
                        && sets.compatible(point.locks, locks)
                        && *time > knows[point.thread.index()]
                };
                let expected = all.iter().any(races);
                assert_eq!(crowd.all.iter().any(races), expected, "seed {seed}");
                raced += usize::from(expected);
            }
            assert_eq!(crowd.forgotten, 0);
        }
        assert!(raced > 2_000, "{raced}");
    }
}
