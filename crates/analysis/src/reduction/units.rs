//! Reduction of the units of a whole trace.
//!
//! Which accesses race is known only at the end, so of every unit the order of its lock steps and of its different accesses is
//! kept, equal units once, and judged when the trace is over. A lock that only one thread ever takes commutes with
//! everything. Accesses of one thread to one location in one way under the same locks are one class; a class races as a
//! whole if one of its accesses does, so an access is never called race-free wrongly.
//!
//! **Bounds**, each a possible miss: [`STEPS`] steps of a unit, [`SHAPES`] different units of one piece of code.

use ravel_trace::{Event, LocationId, LockId, MethodId, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

use super::Mover;
use crate::engine::{Access, Analysis, Context, Needs};
use crate::finding::{Evidence, Rule, UnitKind};
use crate::locks::LocksetId;
use crate::order::{ClockId, Moment};
use crate::raw::{Point, RawReport, RawStep, StepKind};
use crate::units::{Owner, UnitId};

/// How many steps of one unit are kept.
pub const STEPS: usize = 256;
/// How many different units of one piece of code are judged.
pub const SHAPES: usize = 64;

#[derive(Clone, Copy)]
enum What {
    Acquire(LockId),
    Release(LockId),
    Access(usize),
}

#[derive(Clone, Copy)]
struct Item {
    what: What,
    point: Point,
    location: Option<LocationId>,
}

struct Class {
    thread: ThreadId,
    writes: bool,
    locks: LocksetId,
    /// The different moments of hard order, in program order.
    moments: Vec<ClockId>,
}

type Code = (Option<MethodId>, SiteId, UnitKind);

/// The analysis.
#[derive(Default)]
pub struct Reduction {
    open: FxHashMap<UnitId, (Owner, Vec<Item>)>,
    classes: Vec<Class>,
    ids: FxHashMap<(LocationId, ThreadId, bool, LocksetId), usize>,
    at: FxHashMap<LocationId, Vec<usize>>,
    locks: FxHashMap<LockId, (ThreadId, bool)>,
    seen: FxHashSet<u64>,
    shapes: FxHashMap<Code, Vec<(Owner, Vec<Item>)>>,
}

impl Reduction {
    fn push(&mut self, owner: Owner, item: Item) {
        let (_, items) = self.open.entry(owner.unit).or_insert_with(|| (owner, Vec::new()));
        // A second access of the same class right after the first matters only if both are non-movers; a third never.
        let same = |earlier: &Item| match (earlier.what, item.what) {
            (What::Access(a), What::Access(b)) => a == b,
            _ => false,
        };
        let repeated = items.len() > 1 && items[items.len() - 2..].iter().all(same);
        if items.len() < STEPS && !repeated {
            items.push(item);
        }
    }

    fn lock_step(&mut self, cx: &Context<'_>, index: u64, event: &Event, lock: LockId, kind: StepKind) {
        let of = self.locks.entry(lock).or_insert((event.thread, false));
        of.1 |= of.0 != event.thread;
        if let Some(owner) = cx.transaction(event.thread) {
            let what = if kind == StepKind::Acquire {
                What::Acquire(lock)
            } else {
                What::Release(lock)
            };
            self.push(
                owner,
                Item {
                    what,
                    point: cx.point(index, event, kind),
                    location: None,
                },
            );
        }
    }

    /// For each class, whether its accesses are race-free.
    fn race_free(&self, cx: &Context<'_>) -> Vec<bool> {
        let mut free = vec![true; self.classes.len()];
        for (&location, ids) in &self.at {
            let own = cx.state.cells.seen(location).is_some_and(|cell| cell.synchronizing);
            for (at, &a) in ids.iter().enumerate() {
                for &b in &ids[at + 1..] {
                    let (x, y) = (&self.classes[a], &self.classes[b]);
                    if (free[a] || free[b])
                        && x.thread != y.thread
                        && (x.writes || y.writes)
                        && cx.state.locksets.compatible(x.locks, y.locks)
                        && meet(cx, x, y, own)
                    {
                        (free[a], free[b]) = (false, false);
                    }
                }
            }
        }
        free
    }

    fn mover(&self, what: What, free: &[bool]) -> Mover {
        let shared = |lock: LockId| self.locks.get(&lock).is_some_and(|(_, shared)| *shared);
        match what {
            What::Acquire(lock) if shared(lock) => Mover::Right,
            What::Release(lock) if shared(lock) => Mover::Left,
            What::Access(class) if !free[class] => Mover::Non,
            _ => Mover::Both,
        }
    }

    /// The step that commits the unit and the first that must not come after it.
    fn first_break<'i>(&self, items: &'i [Item], free: &[bool]) -> Option<(&'i Item, &'i Item)> {
        let mut commit: Option<&Item> = None;
        for item in items {
            match (self.mover(item.what, free), commit) {
                (Mover::Both, _) | (Mover::Right, None) | (Mover::Left, Some(_)) => {}
                (Mover::Left | Mover::Non, None) => commit = Some(item),
                (Mover::Right | Mover::Non, Some(at)) => return Some((at, item)),
            }
        }
        None
    }
}

/// Whether hard order leaves some access of one class and some of the other unordered. Edges through the location itself
/// do not count.
fn meet(cx: &Context<'_>, a: &Class, b: &Class, own_edges: bool) -> bool {
    let order = &cx.state.order;
    let before = |first: ThreadId, at: ClockId, then: ClockId| {
        let moment = Moment {
            thread: first,
            time: order.past(at).hard.get(first),
        };
        let known = order.past(then);
        if own_edges {
            known.bare.knows(moment)
        } else {
            known.hard.knows(moment)
        }
    };
    a.moments.iter().any(|&mine| {
        // What comes before is a head of the list; if the first of the rest comes after, so do all.
        let from = b.moments.partition_point(|&theirs| before(b.thread, theirs, mine));
        b.moments
            .get(from)
            .is_some_and(|&theirs| !before(a.thread, mine, theirs))
    })
}

impl Analysis for Reduction {
    fn name(&self) -> &'static str {
        "reduction"
    }

    fn needs(&self) -> Needs {
        Needs {
            hard: true,
            history: true,
            units: true,
            transactions: true,
            ..Needs::default()
        }
    }

    fn access(&mut self, _cx: &Context<'_>, access: &Access) {
        if access.cell.exempt {
            return;
        }
        let key = (access.location, access.thread(), access.writes(), access.point.locks);
        let classes = &mut self.classes;
        let at = &mut self.at;
        let class = *self.ids.entry(key).or_insert_with(|| {
            at.entry(access.location).or_default().push(classes.len());
            classes.push(Class {
                thread: access.thread(),
                writes: access.writes(),
                locks: access.point.locks,
                moments: Vec::new(),
            });
            classes.len() - 1
        });
        let moments = &mut self.classes[class].moments;
        if moments.last() != Some(&access.clock) {
            moments.push(access.clock);
        }
        if let Some(owner) = access.owners.whole {
            let location = Some(access.location);
            self.push(
                owner,
                Item {
                    what: What::Access(class),
                    point: access.point,
                    location,
                },
            );
        }
    }

    fn event(&mut self, cx: &Context<'_>, index: u64, event: &Event) {
        match event.op {
            Op::Acquire { lock, .. } | Op::Resume { lock, .. } => {
                self.lock_step(cx, index, event, lock, StepKind::Acquire);
            }
            Op::Release { lock, .. } | Op::Wait { lock } => {
                self.lock_step(cx, index, event, lock, StepKind::Release);
            }
            _ => {}
        }
    }

    fn unit_end(&mut self, cx: &Context<'_>, unit: UnitId) {
        let Some((owner, items)) = self.open.remove(&unit) else {
            return;
        };
        if cx.is_proven(owner) {
            return;
        }
        let info = cx.state.units.info(unit);
        let code = (info.method, info.site, owner.kind);
        let shapes = self.shapes.entry(code).or_default();
        if shapes.len() >= SHAPES {
            return;
        }
        let mut hasher = FxHasher::default();
        code.hash(&mut hasher);
        for item in &items {
            let (tag, id) = match item.what {
                What::Acquire(lock) => (0, lock.index()),
                What::Release(lock) => (1, lock.index()),
                What::Access(class) => (2, class),
            };
            (tag, id, item.point.site).hash(&mut hasher);
        }
        if self.seen.insert(hasher.finish()) {
            shapes.push((owner, items));
        }
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        let free = self.race_free(cx);
        let mut reports: Vec<RawReport> = Vec::new();
        let mut places: FxHashSet<(Code, SiteId, SiteId)> = FxHashSet::default();
        for (code, shapes) in &self.shapes {
            for (owner, items) in shapes {
                let Some((commit, step)) = self.first_break(items, &free) else {
                    continue;
                };
                if !places.insert((*code, commit.point.site, step.point.site)) {
                    continue;
                }
                let raw = |item: &Item| RawStep {
                    point: item.point,
                    location: item.location,
                    lock: match item.what {
                        What::Acquire(lock) | What::Release(lock) => Some(lock),
                        What::Access(_) => None,
                    },
                    owner: Some(*owner),
                };
                reports.push(RawReport {
                    analysis: "reduction",
                    rule: Rule::Unserializable,
                    evidence: Evidence::Suspected,
                    pattern: String::new(),
                    steps: vec![raw(commit), raw(step)],
                    observed: false,
                });
            }
        }
        reports.sort_by_key(|report| report.steps.iter().map(|step| step.point.index).collect::<Vec<_>>());
        reports
    }
}
