//! Reduction of the units of a whole trace.
//!
//! Which accesses race is known only at the end. Until then a unit is judged by locks alone, as it ends and again when it
//! leaves a [window](crate::window): one that has the form whatever order says is let go, of the others equal ones are kept
//! once and judged with hard order when the trace is over. A lock that only one thread ever takes commutes with
//! everything. Accesses of one thread to one location in one way under the same locks race together: if one does, all
//! do, so an access is never called race-free wrongly.
//!
//! **Bounds**, each a possible miss and counted: [`STEPS`] steps of a unit, [`SHAPES`] different units of one piece of code that
//! locks alone do not clear, [`WINDOW`] steps of units that locks do clear so far, [`MOMENTS`] moments of
//! accesses alike (beyond them every second is left out).

use ravel_trace::{LocationId, LockId, MethodId, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

use super::Mover;
use crate::engine::{Access, Analysis, Context, Happened, Needs, View, left_out};
use crate::exposure::{Exposure, LET_GO, TOO_MANY_WAYS, Way};
use crate::finding::{Evidence, Rule, UnitKind};
use crate::locks::{LockTable, LocksetId};
use crate::order::{ClockId, Moment};
use crate::raw::{Point, RawReport, RawStep, StepKind};
use crate::units::{Owner, UnitId};
use crate::window::{Shapes, Window};

/// How many steps of one unit are kept.
pub const STEPS: usize = 256;
/// How many different units of one piece of code are judged at the end.
pub const SHAPES: usize = 64;
/// How many lists of steps are kept to be used again.
const SPARE: usize = 1 << 12;
/// How many moments of accesses of one kind are kept.
pub const MOMENTS: usize = 512;
/// How many steps of units wait.
pub const WINDOW: usize = 1 << 17;

#[derive(Clone, Copy)]
enum What {
    Acquire(LockId),
    Release(LockId),
    Access(LocationId),
}

#[derive(Clone, Copy)]
struct Item {
    what: What,
    point: Point,
}

impl Item {
    fn is_same_access(&self, other: &Item) -> bool {
        let key = |point: &Point| (point.kind, point.locks, point.site);
        match (self.what, other.what) {
            (What::Access(a), What::Access(b)) => a == b && key(&self.point) == key(&other.point),
            _ => false,
        }
    }
}

type Code = (Option<MethodId>, SiteId, UnitKind);

struct UnitItems {
    owner: Owner,
    code: Code,
    items: Vec<Item>,
}

/// The different moments of hard order in which accesses of one kind came, in program order.
type Moments = Vec<ClockId>;

/// What is accessed by whom, how and under which locks.
type Class = (LocationId, ThreadId, StepKind, LocksetId);

/// The analysis.
pub struct Reduction {
    /// The open unit of each thread.
    open: Vec<Option<(Owner, Vec<Item>)>>,
    spare: Vec<Vec<Item>>,
    exposure: Exposure<Moments>,
    locks: Vec<Option<(ThreadId, bool)>>,
    seen: Shapes,
    window: Window<UnitItems>,
    shapes: FxHashMap<Code, Vec<(Owner, Vec<Item>)>>,
    cut: u64,
    unjudged: u64,
    thinned: u64,
}

impl Default for Reduction {
    fn default() -> Self {
        Reduction {
            open: Vec::new(),
            spare: Vec::new(),
            exposure: Exposure::default(),
            locks: Vec::new(),
            seen: Shapes::default(),
            window: Window::new(WINDOW),
            shapes: FxHashMap::default(),
            cut: 0,
            unjudged: 0,
            thinned: 0,
        }
    }
}

impl Reduction {
    #[inline]
    fn push(&mut self, owner: Owner, item: Item) {
        let thread = item.point.thread.index();
        if self.open.len() <= thread {
            self.open.resize_with(thread + 1, || None);
        }
        let slot = &mut self.open[thread];
        if slot.as_ref().is_none_or(|(open, _)| open.unit != owner.unit) {
            let mut items = self.spare.pop().unwrap_or_default();
            items.clear();
            *slot = Some((owner, items));
        }
        let Some((_, items)) = slot else { return };
        // A second access of the same class right after the first matters only if both are non-movers; a third never.
        let repeated = items.len() > 1
            && items[items.len() - 2..]
                .iter()
                .all(|earlier| earlier.is_same_access(&item));
        if repeated {
            return;
        }
        if items.len() < STEPS {
            items.push(item);
        } else {
            self.cut += 1;
        }
    }

    /// Remembers a way of access, and when it came.
    fn note(&mut self, view: &View, access: &Access) {
        let point = access.point;
        let way = Way {
            location: access.location,
            thread: point.thread,
            kind: point.kind,
            locks: point.locks,
            site: SiteId(0),
            clock: access.clock,
        };
        let Some(moments) = self.exposure.note(&way, &view.locksets) else {
            return;
        };
        if moments.len() >= MOMENTS {
            // What is left is still in program order, and has the first moment and most of the latest.
            let mut nth = 0;
            moments.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.thinned += 1;
        }
        moments.push(access.clock);
    }

    fn lock_step(&mut self, event: &Happened, lock: LockId, kind: StepKind) {
        if self.locks.len() <= lock.index() {
            self.locks.resize(lock.index() + 1, None);
        }
        let of = self.locks[lock.index()].get_or_insert((event.event.thread, false));
        of.1 |= of.0 != event.event.thread;
        if let Some(owner) = event.transaction {
            let what = if kind == StepKind::Acquire {
                What::Acquire(lock)
            } else {
                What::Release(lock)
            };
            let point = event.point(kind);
            self.push(owner, Item { what, point });
        }
    }

    fn mover(&self, item: &Item, races: &mut impl FnMut(LocationId, &Point) -> bool) -> Mover {
        let shared = |lock: LockId| self.locks[lock.index()].is_some_and(|(_, shared)| shared);
        match item.what {
            What::Acquire(lock) if shared(lock) => Mover::Right,
            What::Release(lock) if shared(lock) => Mover::Left,
            What::Access(location) if races(location, &item.point) => Mover::Non,
            _ => Mover::Both,
        }
    }

    /// The step that commits the unit and the first that must not come after it.
    fn first_break<'i>(
        &self,
        items: &'i [Item],
        mut races: impl FnMut(LocationId, &Point) -> bool,
    ) -> Option<(&'i Item, &'i Item)> {
        let mut commit: Option<&Item> = None;
        for item in items {
            match (self.mover(item, &mut races), commit) {
                (Mover::Both, _) | (Mover::Right, None) | (Mover::Left, Some(_)) => {}
                (Mover::Left | Mover::Non, None) => commit = Some(item),
                (Mover::Right | Mover::Non, Some(at)) => return Some((at, item)),
            }
        }
        None
    }

    /// Whether locks alone do not give the unit the form.
    fn is_suspect(&self, sets: &LockTable, items: &[Item]) -> bool {
        let races = |location: LocationId, point: &Point| {
            if !self.exposure.is_unguarded(location) {
                return false;
            }
            let keeps = |lock| sets.locks(point.locks).iter().any(|held| held.lock == lock);
            let lets_in = |locks| sets.compatible(point.locks, locks);
            self.exposure
                .is_open(location, point.thread, point.kind.writes(), keeps, lets_in)
        };
        self.first_break(items, races).is_some()
    }

    fn keep(&mut self, unit: UnitItems) {
        let shapes = self.shapes.entry(unit.code).or_default();
        if shapes.len() < SHAPES {
            shapes.push((unit.owner, unit.items));
        } else {
            self.unjudged += 1;
            self.recycle(unit.items);
        }
    }

    /// Keeps a list to be used again.
    fn recycle(&mut self, items: Vec<Item>) {
        if self.spare.len() < SPARE {
            self.spare.push(items);
        }
    }

    /// A unit leaves the window.
    fn leave(&mut self, sets: &LockTable, unit: UnitItems) {
        if self.is_suspect(sets, &unit.items) {
            self.keep(unit);
            return;
        }
        for item in &unit.items {
            if let What::Access(location) = item.what {
                self.exposure.let_go(location);
            }
        }
        self.recycle(unit.items);
    }
}

/// Whether an access races: some other thread's, in conflict and under locks that let both be held, is not ordered with all
/// accesses like it. Edges through the location itself do not count.
fn races(cx: &Context<'_>, exposure: &Exposure<Moments>, class: Class) -> bool {
    let (location, thread, kind, locks) = class;
    let own_edges = cx.state.cells.is_ordering(location);
    let sets = &cx.state.locksets;
    let mine = || {
        exposure
            .at(location)
            .filter(|(who, what, held, _)| *who == thread && *what == kind && sets.is_subset(*held, locks))
    };
    exposure
        .at(location)
        .filter(|(who, what, held, _)| {
            *who != thread && (what.writes() || kind.writes()) && sets.compatible(*held, locks)
        })
        .any(|(who, _, _, theirs)| mine().any(|(.., moments)| meet(cx, (thread, moments), (who, theirs), own_edges)))
}

/// Whether hard order leaves some moment of one and some of the other unordered.
fn meet(cx: &Context<'_>, a: (ThreadId, &Moments), b: (ThreadId, &Moments), own_edges: bool) -> bool {
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
    a.1.iter().any(|&mine| {
        // What comes before is a head of the list; if the first of the rest comes after, so do all.
        let from = b.1.partition_point(|&theirs| before(b.0, theirs, mine));
        b.1.get(from).is_some_and(|&theirs| !before(a.0, mine, theirs))
    })
}

fn shape(code: Code, items: &[Item]) -> u64 {
    let mut hasher = FxHasher::default();
    code.hash(&mut hasher);
    for item in items {
        let (tag, id) = match item.what {
            What::Acquire(lock) => (0, lock.0),
            What::Release(lock) => (1, lock.0),
            What::Access(location) => (2 + item.point.kind as u64, location.0),
        };
        hasher.write_u64(tag << 32 | u64::from(id));
        hasher.write_u64(u64::from(item.point.site.0) << 32 | u64::from(item.point.locks.0));
    }
    if let Some(first) = items.first() {
        first.point.thread.hash(&mut hasher);
    }
    hasher.finish()
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
            repeats: true,
            ..Needs::default()
        }
    }

    fn access(&mut self, view: &View, access: &Access) {
        if access.cell.exempt || access.cell.lock_state {
            return;
        }
        let point = access.point;
        if !access.repeated {
            self.note(view, access);
        }
        if let Some(owner) = access.owners.whole {
            let what = What::Access(access.location);
            self.push(owner, Item { what, point });
        }
    }

    fn event(&mut self, _: &View, event: &Happened) {
        match event.op() {
            Op::Acquire { lock, .. } | Op::Resume { lock, .. } => {
                self.lock_step(event, lock, StepKind::Acquire);
            }
            Op::Release { lock, .. } | Op::Wait { lock } => {
                self.lock_step(event, lock, StepKind::Release);
            }
            _ => {}
        }
    }

    fn unit_end(&mut self, view: &View, unit: UnitId, _: u64) {
        let info = view.units.info(unit);
        let Some((owner, items)) = self
            .open
            .get_mut(info.thread.index())
            .and_then(|slot| slot.take_if(|(owner, _)| owner.unit == unit))
        else {
            return;
        };
        if view.units.is_proven(owner) {
            self.recycle(items);
            return;
        }
        let code = (info.method, info.site, owner.kind);
        if !self.seen.is_new(shape(code, &items)) {
            self.recycle(items);
            return;
        }
        let steps = items.len();
        let unit = UnitItems { owner, code, items };
        if self.is_suspect(&view.locksets, &unit.items) {
            self.keep(unit);
            return;
        }
        self.window.push(unit, steps);
        while let Some(oldest) = self.window.overflow() {
            self.leave(&view.locksets, oldest);
        }
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        while let Some(unit) = self.window.pop() {
            if self.is_suspect(&cx.state.locksets, &unit.items) {
                self.keep(unit);
            }
        }
        let mut known: FxHashMap<Class, bool> = FxHashMap::default();
        let mut reports: Vec<RawReport> = Vec::new();
        let mut codes: Vec<&Code> = self.shapes.keys().collect();
        codes.sort_unstable();
        for code in codes {
            let mut places: FxHashSet<(SiteId, SiteId)> = FxHashSet::default();
            for (owner, items) in &self.shapes[code] {
                if cx.stop.now() {
                    break;
                }
                let races = |location: LocationId, point: &Point| {
                    let class = (location, point.thread, point.kind, point.locks);
                    *known.entry(class).or_insert_with(|| races(cx, &self.exposure, class))
                };
                let Some((commit, step)) = self.first_break(items, races) else {
                    continue;
                };
                if !places.insert((commit.point.site, step.point.site)) {
                    continue;
                }
                let raw = |item: &Item| {
                    let (location, lock) = match item.what {
                        What::Acquire(lock) | What::Release(lock) => (None, Some(lock)),
                        What::Access(location) => (Some(location), None),
                    };
                    RawStep {
                        point: item.point,
                        location,
                        lock,
                        owner: Some(*owner),
                    }
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

    fn left_out(&self) -> Vec<String> {
        let of_code = format!("units of methods with more than {SHAPES} variants");
        let counts = [
            (self.cut, format!("steps of units longer than {STEPS}")),
            (self.unjudged, of_code),
            (
                self.thinned * (MOMENTS as u64 / 2),
                format!("moments of accesses that came in more than {MOMENTS}"),
            ),
            (self.exposure.let_go_of_unguarded(), LET_GO.to_owned()),
            (self.exposure.left_out(), TOO_MANY_WAYS.to_owned()),
        ];
        left_out("reduction", counts.iter().map(|(count, what)| (*count, what.as_str())))
    }
}
