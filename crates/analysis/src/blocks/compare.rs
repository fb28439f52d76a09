//! Blocks of different threads against each other: which orders of their accesses are unserializable and possible.

use ravel_trace::{LocationId, Mode, SiteId, ThreadId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

use super::feasibility::{Pair, Side};
use super::{one, two};
use crate::engine::Context;
use crate::finding::{Evidence, Rule};
use crate::order::{ClockId, Moment};
use crate::raw::{Point, RawReport, RawStep};
use crate::transaction::{Access, Action, HeldLocks, Kind, Transaction, TransactionStep};
use crate::units::Owner;

/// One occurrence of a block.
#[derive(Clone)]
pub(super) struct Instance {
    pub(super) owner: Owner,
    pub(super) events: SmallVec<[(Point, ClockId); 2]>,
    /// The lock steps of the unit.
    pub(super) locks: Arc<Transaction>,
    /// For each event, how many lock steps come before it.
    pub(super) after: SmallVec<[usize; 2]>,
}

/// Equal blocks.
pub(super) struct Class {
    pub(super) thread: ThreadId,
    /// Nothing can come between its accesses.
    pub(super) proven: bool,
    pub(super) accesses: SmallVec<[Access; 2]>,
    pub(super) throughout: HeldLocks,
    pub(super) first: Instance,
    pub(super) latest: Option<Instance>,
}

impl Class {
    fn moments(&self) -> impl Iterator<Item = &Instance> {
        std::iter::once(&self.first).chain(&self.latest)
    }
}

/// Whether one lock is held exclusively over all of every block.
pub(super) fn guarded(classes: &[&Class]) -> bool {
    let first = classes[0].accesses[0].held.holds();
    first.iter().any(|lock| {
        let has = |held: &HeldLocks| {
            held.holds()
                .iter()
                .any(|hold| hold.lock == lock.lock && hold.mode == Mode::Exclusive)
        };
        classes.iter().all(|class| {
            class.accesses.iter().all(|access| has(&access.held))
                && (class.accesses.len() == 1 || has(&class.throughout))
        })
    })
}

/// How many states of pairs of units are looked at, all in all, where locks alone do not decide.
pub(super) const STATES: u64 = 300_000_000;

/// What was found.
pub(super) struct Found<'a> {
    cx: &'a Context<'a>,
    /// States that may still be looked at.
    left: u64,
    /// Pairs of blocks that were not compared.
    pub(super) uncompared: u64,
    seen: FxHashSet<(String, SmallVec<[SiteId; 4]>)>,
    pub(super) reports: Vec<RawReport>,
}

impl<'a> Found<'a> {
    /// Nothing yet.
    pub(super) fn new(cx: &'a Context<'a>) -> Self {
        Found {
            cx,
            left: STATES,
            uncompared: 0,
            seen: FxHashSet::default(),
            reports: Vec::new(),
        }
    }

    /// Looks for an access of `inner` inside a block of `outer`.
    pub(super) fn one(&mut self, outer: &Class, inner: &Class) {
        let [first, second] = &outer.accesses[..] else { return };
        for (nth, between) in inner.accesses.iter().enumerate() {
            let Some(pattern) = one::pattern(first, between, second) else {
                continue;
            };
            if outer.throughout.excludes(&between.held) {
                continue;
            }
            let wanted = [(Side::First, 0), (Side::Second, nth), (Side::First, 1)];
            self.try_all(pattern.name(), outer, inner, &wanted);
        }
    }

    /// Looks for an unserializable order of the accesses of two 2-blocks.
    pub(super) fn two(&mut self, a: &Class, b: &Class) {
        let same_order = a.accesses[0].location == b.accesses[0].location;
        let kinds = |class: &Class| [class.accesses[0].kind, class.accesses[1].kind];
        let shape = two::Shape {
            first: kinds(a),
            second: kinds(b),
            same_order,
        };
        for merge in two::MERGES
            .into_iter()
            .filter(|merge| two::unserializable(shape, *merge))
        {
            let mut next = [0, 0];
            let wanted = merge.map(|side| {
                next[side as usize] += 1;
                (side, next[side as usize] - 1)
            });
            let name = two::Clash {
                shape,
                merge,
                steps: Vec::new(),
            }
            .name();
            if self.try_all(&name, a, b, &wanted) {
                return;
            }
        }
    }

    /// Reports the wanted order of accesses (by side and number) if some moments of the two blocks allow it.
    fn try_all(&mut self, pattern: &str, a: &Class, b: &Class, wanted: &[(Side, usize)]) -> bool {
        for first in a.moments() {
            for second in b.moments() {
                let event = |&(side, nth): &(Side, usize)| match side {
                    Side::First => (first.events[nth], a.accesses[nth].location, first.owner),
                    Side::Second => (second.events[nth], b.accesses[nth].location, second.owner),
                };
                let events: SmallVec<[_; 4]> = wanted.iter().map(event).collect();
                let places: SmallVec<[SiteId; 4]> = events.iter().map(|((point, _), ..)| point.site).collect();
                let key = (pattern.to_owned(), places);
                if self.seen.contains(&key) {
                    return true;
                }
                let ordered =
                    (0..events.len()).any(|i| (i + 1..events.len()).any(|j| self.before(events[j], events[i])));
                let states = (first.locks.steps.len() + 3) * (second.locks.steps.len() + 3);
                if self.left < states as u64 {
                    self.uncompared += 1;
                    continue;
                }
                if ordered {
                    continue;
                }
                self.left -= states as u64;
                if !feasible(a, first, b, second, wanted) {
                    continue;
                }
                self.seen.insert(key);
                let step = |((point, _), location, owner): ((Point, ClockId), LocationId, Owner)| RawStep {
                    point,
                    location: Some(location),
                    lock: None,
                    owner: Some(owner),
                };
                self.reports.push(RawReport {
                    analysis: "blocks",
                    rule: Rule::Unserializable,
                    evidence: Evidence::Predicted,
                    pattern: pattern.to_owned(),
                    observed: events.iter().is_sorted_by_key(|((point, _), ..)| point.index),
                    steps: events.into_iter().map(step).collect(),
                });
                return true;
            }
        }
        false
    }

    fn before(
        &self,
        ((a, at_a), x, _): ((Point, ClockId), LocationId, Owner),
        ((b, at_b), y, _): ((Point, ClockId), LocationId, Owner),
    ) -> bool {
        if a.thread == b.thread {
            return false;
        }
        let order = &self.cx.state.order;
        let moment = Moment {
            thread: a.thread,
            time: order.past(at_a).hard.get(a.thread),
        };
        let synchronizes = |location| self.cx.state.cells.is_ordering(location);
        let known = order.past(at_b);
        // Edges made by the accesses' own locations do not count; leaving out all locations' is the quick way to that.
        if synchronizes(x) || synchronizes(y) {
            known.bare.knows(moment)
        } else {
            known.hard.knows(moment)
        }
    }
}

/// The exact test on the lock steps of the two units and the accesses wanted.
fn feasible(a: &Class, first: &Instance, b: &Class, second: &Instance, wanted: &[(Side, usize)]) -> bool {
    let (a, at_a) = with_accesses(a, first);
    let (b, at_b) = with_accesses(b, second);
    let step = |&(side, nth): &(Side, usize)| (side, if side == Side::First { at_a[nth] } else { at_b[nth] });
    let wanted: SmallVec<[(Side, usize); 4]> = wanted.iter().map(step).collect();
    Pair::new(&a, &b, |_, _, _| false).feasible(&wanted)
}

fn with_accesses(class: &Class, moment: &Instance) -> (Transaction, SmallVec<[usize; 2]>) {
    let mut transaction = (*moment.locks).clone();
    let mut at = SmallVec::new();
    for (nth, access) in class.accesses.iter().enumerate() {
        let action = match access.kind {
            Kind::Read => Action::Read(access.location),
            Kind::Write => Action::Write(access.location),
        };
        let position = moment.after[nth] + nth;
        transaction.steps.insert(
            position.min(transaction.steps.len()),
            TransactionStep {
                action,
                origin: moment.events[nth].0.index,
            },
        );
        at.push(position);
    }
    (transaction, at)
}
