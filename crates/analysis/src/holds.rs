//! Which thread held which lock when: the lock lanes of the timeline. It watches the events go by, in bounded space: a lane has at most
//! [`MOST_HOLDS`] holds, and only the first [`MOST_LOCKS`] locks of a trace can have one.

use std::collections::BTreeMap;

use ravel_trace::naming;
use ravel_trace::{Event, LockId, Names, Op, ThreadId};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// Locks of a trace that are watched.
const MOST_LOCKS: usize = 1 << 16;
/// Holds that a lane has; the lane ends before the next one.
const MOST_HOLDS: usize = 400;
/// Lanes that a report keeps: those at the steps of findings first, then the locks with the most holds.
const MOST_LANES: usize = 8;
/// Lanes that are kept until the findings are known.
const MOST_CANDIDATES: usize = 64;

/// One lock of a recording, which at least two threads held.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LockLane {
    /// Its name.
    pub lock: String,
    /// Who held it, from the acquisition to the release: thread and numbers of the two events. A hold that has no release lasts to the
    /// end of the trace.
    pub holds: Vec<(String, u64, u64)>,
    /// The event from which on holds are left out, because the lane has too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hold {
    thread: ThreadId,
    from: u64,
    to: u64,
}

#[derive(Clone, Default, Debug)]
struct Watched {
    /// Holds that have no release yet; several for a read lock.
    open: Vec<(ThreadId, u64)>,
    holds: Vec<Hold>,
    until: Option<u64>,
}

/// Watches the locks of a trace.
#[derive(Clone, Default, Debug)]
pub struct LockHolds {
    locks: Vec<Watched>,
}

impl LockHolds {
    /// Notes an event; `index` is its number and `width` the number of events that a reader cannot distinguish in the picture.
    #[inline]
    pub fn event(&mut self, event: &Event, index: u64, width: u64) {
        match event.op {
            Op::Acquire { lock, .. } | Op::Resume { lock, .. } => self.acquired(event.thread, lock, index),
            Op::Release { lock, .. } | Op::Wait { lock } => self.released(event.thread, lock, index, width),
            _ => {}
        }
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, index: u64) {
        if lock.index() >= MOST_LOCKS {
            return;
        }
        if self.locks.len() <= lock.index() {
            self.locks.resize(lock.index() + 1, Watched::default());
        }
        self.locks[lock.index()].open.push((thread, index));
    }

    fn released(&mut self, thread: ThreadId, lock: LockId, index: u64, width: u64) {
        let Some(watched) = self.locks.get_mut(lock.index()) else {
            return;
        };
        let Some(at) = watched.open.iter().position(|(holder, _)| *holder == thread) else {
            return;
        };
        let (_, from) = watched.open.swap_remove(at);
        watched.add(
            Hold {
                thread,
                from,
                to: index,
            },
            width,
        );
    }

    /// The locks that at least two threads held, those with the most holds first; `last` is the number of the last event.
    pub fn lanes(&self, names: &Names, thread_name: impl Fn(ThreadId) -> String, last: u64) -> Vec<LockLane> {
        let mut shared: Vec<(usize, Vec<Hold>)> = self
            .locks
            .iter()
            .enumerate()
            .filter_map(|(at, watched)| {
                let mut holds = watched.holds.clone();
                if watched.until.is_none() {
                    holds.extend(
                        watched
                            .open
                            .iter()
                            .map(|&(thread, from)| Hold { thread, from, to: last }),
                    );
                }
                holds.sort_by_key(|hold| hold.from);
                let first = holds.first()?.thread;
                holds.iter().any(|hold| hold.thread != first).then_some((at, holds))
            })
            .collect();
        shared.sort_by_key(|(at, holds)| (std::cmp::Reverse(holds.len()), *at));
        shared.truncate(MOST_CANDIDATES);
        let lane = |(at, holds): (usize, Vec<Hold>)| LockLane {
            lock: names.lock(LockId(at as u32)).name.clone(),
            holds: holds
                .into_iter()
                .map(|hold| (thread_name(hold.thread), hold.from, hold.to))
                .collect(),
            until: self.locks[at].until,
        };
        shared.into_iter().map(lane).collect()
    }
}

impl Watched {
    fn add(&mut self, hold: Hold, width: u64) {
        if self.until.is_some() {
            return;
        }
        if self.holds.len() == MOST_HOLDS {
            self.join(width);
            // A join that saves little would be repeated at nearly every hold.
            if self.holds.len() > MOST_HOLDS / 4 * 3 {
                self.until = Some(hold.from);
                return;
            }
        }
        self.holds.push(hold);
    }

    /// Joins holds of one thread with gaps too small to see. No other thread held the lock in such a gap.
    fn join(&mut self, width: u64) {
        self.holds.sort_by_key(|hold| hold.from);
        self.holds.dedup_by(|next, hold| {
            let joined = next.thread == hold.thread && next.from.saturating_sub(hold.to) <= width;
            if joined {
                hold.to = hold.to.max(next.to);
            }
            joined
        });
    }
}

/// Keeps the lanes that matter to the findings of a recording, named as in the finding, then those with the most holds.
pub fn keep_for(lanes: &mut Vec<LockLane>, findings: &[Finding], moments: &BTreeMap<String, Vec<u64>>) {
    let mut rated: Vec<(bool, LockLane)> = std::mem::take(lanes)
        .into_iter()
        .map(|lane| {
            let named = findings.iter().filter(|finding| finding.shown).find_map(|finding| {
                let moments = moments.get(&finding.id)?;
                finding.steps.iter().zip(moments).find_map(|(step, &moment)| {
                    let held = |(thread, from, to): &(String, u64, u64)| {
                        *thread == step.thread && *from <= moment && moment <= *to
                    };
                    let is_held = lane.holds.iter().any(held);
                    let mut names = step.locks.iter().chain(std::iter::once(&step.variable));
                    is_held
                        .then(|| names.find(|name| naming::lock::unnumbered(name) == lane.lock).cloned())
                        .flatten()
                })
            });
            let matters = named.is_some();
            (
                matters,
                LockLane {
                    lock: named.unwrap_or(lane.lock),
                    ..lane
                },
            )
        })
        .collect();
    rated.sort_by_key(|(matters, _)| !matters);
    rated.truncate(MOST_LANES);
    *lanes = rated.into_iter().map(|(_, lane)| lane).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Evidence, FindingStep, Rule};
    use ravel_trace::{Mode, ObjectId, SiteId};

    fn event(thread: u32, op: Op) -> Event {
        Event {
            thread: ThreadId(thread),
            op,
            site: SiteId(0),
            position: 0,
        }
    }

    fn watch(ops: &[(u32, Op)]) -> LockHolds {
        let mut holds = LockHolds::default();
        for (index, (thread, op)) in ops.iter().enumerate() {
            holds.event(&event(*thread, *op), index as u64, 1);
        }
        holds
    }

    fn acquire(lock: u32) -> Op {
        Op::Acquire {
            lock: LockId(lock),
            mode: Mode::Exclusive,
        }
    }

    fn release(lock: u32) -> Op {
        Op::Release {
            lock: LockId(lock),
            mode: Mode::Exclusive,
        }
    }

    fn names(locks: usize) -> Names {
        let mut names = Names::default();
        let lock = ravel_trace::names::Lock {
            object: ObjectId(1),
            name: "shop.Stock".to_owned(),
        };
        names.locks.resize(locks, lock);
        names
    }

    #[test]
    fn a_lock_is_held_from_its_acquisition_to_its_release_and_not_during_a_wait() {
        let lock = LockId(0);
        let holds = watch(&[
            (0, acquire(0)),
            (0, Op::Wait { lock }),
            (1, acquire(0)),
            (1, release(0)),
            (0, Op::Resume { lock, notified: true }),
            (1, acquire(1)),
        ]);
        let lanes = holds.lanes(&names(2), |thread| format!("t{}", thread.0), 5);
        let of = |thread: &str, from, to| (thread.to_owned(), from, to);
        assert_eq!(lanes.len(), 1, "a lock of one thread has no lane");
        assert_eq!(lanes[0].holds, [of("t0", 0, 1), of("t1", 2, 3), of("t0", 4, 5)]);
    }

    #[test]
    fn a_lane_is_bounded_and_says_where_it_ends() {
        let ops = (0..5_000u32).flat_map(|n| [(n % 2, acquire(0)), (n % 2, release(0))]);
        let holds = watch(&ops.collect::<Vec<_>>());
        let lanes = holds.lanes(&names(1), |thread| thread.0.to_string(), 10_000);
        assert_eq!(
            (lanes[0].holds.len(), lanes[0].until),
            (MOST_HOLDS, Some(2 * MOST_HOLDS as u64))
        );
        let ops = (0..5_000u32).flat_map(|n| [(n / 2_500, acquire(0)), (n / 2_500, release(0))]);
        let holds = watch(&ops.collect::<Vec<_>>());
        let lanes = holds.lanes(&names(1), |thread| thread.0.to_string(), 10_000);
        assert_eq!(lanes[0].until, None, "holds of one thread are joined");
    }

    #[test]
    fn the_locks_of_findings_come_first_and_have_their_names() {
        let mut lanes: Vec<LockLane> = (0..20)
            .map(|at| LockLane {
                lock: "shop.Stock".to_owned(),
                holds: vec![("t1".to_owned(), at * 10, at * 10 + 5)],
                until: None,
            })
            .collect();
        let mut finding = Finding::new("a".to_owned(), Rule::Atomicity, Evidence::Harmful);
        finding.shown = true;
        finding.steps.push(FindingStep {
            thread: "t1".to_owned(),
            locks: vec!["shop.Stock@2".to_owned()],
            ..FindingStep::default()
        });
        keep_for(&mut lanes, &[finding], &BTreeMap::from([("a".to_owned(), vec![153])]));
        assert_eq!(lanes.len(), MOST_LANES);
        assert_eq!((lanes[0].lock.as_str(), lanes[0].holds[0].1), ("shop.Stock@2", 150));
    }
}
