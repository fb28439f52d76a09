//! Blocks of a whole trace: every unit's blocks, equal ones made one, compared in pairs of threads.
//!
//! A unit here is a transaction on everything that it touches (the outermost section, method or declared unit), as in the
//! paper. Its steps are kept until it is known which locations lie open to other threads while some unit runs
//! ([`crate::patterns`] has the argument); blocks are taken of those only, and equal ones (in thread, location, kinds, flags
//! and locks) are one. Comparison is by [`feasibility`] on the
//! lock steps of the two units, so it is exact for the two even where they may deadlock; then hard order must allow it.
//!
//! **Bounds**, each a possible miss: [`STEPS`] steps of a unit, [`KEPT`] steps in all, after which units that do not lie open
//! so far are let go, [`ENDS`] of its uninitialised reads and final writes paired,
//! [`TWO_BLOCKS`] different 2-blocks; of equal blocks the first and the latest moment. The general algorithm (sets of three
//! and more units) is not applied to whole traces.

use ravel_trace::{Event, LocationId, Mode, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::feasibility::{Pair, Side};
use super::{one, two};
use crate::engine::{Access as Seen, Context};
use crate::finding::{Evidence, Rule, UnitKind};
use crate::locks::LocksetId;
use crate::order::{ClockId, Moment};
use crate::patterns::exposure::Exposure;
use crate::raw::{Point, RawReport, RawStep};
use crate::transaction::{Access, Action, Held, Kind, Step, Transaction};
use crate::units::{Owner, UnitId};

/// How many steps of one unit are looked at.
pub const STEPS: usize = 512;
/// How many uninitialised reads and final writes of one unit are paired with each other.
pub const ENDS: usize = 64;
/// How many steps of ended units are kept whatever they are.
pub const KEPT: usize = 1 << 20;
/// How many different 2-blocks are kept.
pub const TWO_BLOCKS: usize = 1 << 18;

struct Open {
    owner: Owner,
    transaction: Transaction,
    /// For each step that is an access, the event.
    events: Vec<Option<(Point, ClockId)>>,
    /// An execution of a method that is proven atomic.
    proven: bool,
}

impl Open {
    /// The locks held from the first access to the last.
    fn throughout(&self) -> Held {
        let mut held = self.transaction.entry.clone();
        let (mut first, mut last) = (None, Held::default());
        for step in &self.transaction.steps {
            match step.action {
                Action::Acquire(lock, mode) => held.acquire(lock, mode, step.origin + 1),
                Action::Release(lock, _) => held.release(lock),
                _ => {
                    first.get_or_insert_with(|| held.clone());
                    last.clone_from(&held);
                }
            }
        }
        first.map(|first: Held| first.still_held(&last)).unwrap_or_default()
    }

    fn accesses(&self) -> impl Iterator<Item = (LocationId, bool)> {
        self.transaction.steps.iter().filter_map(|step| match step.action {
            Action::Read(location) => Some((location, false)),
            Action::Write(location) => Some((location, true)),
            _ => None,
        })
    }

    /// The locations that other threads can touch while the unit runs.
    fn open(&self, cx: &Context<'_>, exposure: &Exposure<()>) -> SmallVec<[LocationId; 8]> {
        let throughout = self.throughout();
        let lets_in = |locks: LocksetId| {
            !cx.state.locksets.locks(locks).iter().any(|theirs| {
                let shared = theirs.mode == Mode::Shared;
                let mut mine = throughout.holds().iter().filter(|mine| mine.lock == theirs.lock);
                mine.any(|mine| !(shared && mine.mode == Mode::Shared))
            })
        };
        let keeps = |lock| throughout.holds().iter().any(|mine| mine.lock == lock);
        let thread = self.transaction.thread;
        let lies_open =
            |(location, writes): &(LocationId, bool)| exposure.is_open(*location, thread, *writes, keeps, lets_in);
        self.accesses()
            .filter(lies_open)
            .map(|(location, _)| location)
            .collect()
    }

    /// Equal for units whose blocks are equal.
    fn shape(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (
            self.transaction.thread,
            self.owner.kind,
            self.transaction.entry.without_since(),
        )
            .hash(&mut hasher);
        for (step, event) in self.transaction.steps.iter().zip(&self.events) {
            (step.action, event.map(|(point, clock)| (point.site, clock))).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// One occurrence of a block.
#[derive(Clone)]
struct Instance {
    owner: Owner,
    events: SmallVec<[(Point, ClockId); 2]>,
    /// The lock steps of the unit.
    locks: Rc<Transaction>,
    /// For each event, how many lock steps come before it.
    after: SmallVec<[usize; 2]>,
}

struct Class {
    thread: ThreadId,
    /// Nothing can come between its accesses.
    proven: bool,
    accesses: SmallVec<[Access; 2]>,
    throughout: Held,
    first: Instance,
    latest: Option<Instance>,
}

impl Class {
    fn moments(&self) -> impl Iterator<Item = &Instance> {
        std::iter::once(&self.first).chain(&self.latest)
    }
}

type End = (Kind, bool, bool, Held);
type Key = (
    SmallVec<[LocationId; 2]>,
    ThreadId,
    (UnitKind, bool),
    SmallVec<[End; 2]>,
    Held,
);

/// Collects the blocks of units while a trace goes by.
#[derive(Default)]
pub struct Units {
    open: FxHashMap<UnitId, Open>,
    exposure: Exposure<()>,
    shapes: FxHashSet<u64>,
    ended: Vec<Open>,
    kept: usize,
    held: FxHashMap<ThreadId, Held>,
    steps: u64,
    known: FxHashMap<Key, usize>,
    /// Blocks of one variable by location, and of two by both.
    at: FxHashMap<SmallVec<[LocationId; 2]>, Vec<usize>>,
    classes: Vec<Class>,
    two_blocks: usize,
}

impl Units {
    /// Takes an access in.
    pub fn access(&mut self, cx: &Context<'_>, access: &Seen) {
        if access.cell.exempt {
            return;
        }
        let point = access.point;
        self.exposure.note(
            access.location,
            point.thread,
            point.kind,
            point.locks,
            &cx.state.locksets,
        );
        let Some(owner) = access.owners.whole else { return };
        let open = self.open(owner, access.point.thread);
        if open.transaction.steps.len() >= STEPS {
            return;
        }
        let (reads, writes) = (access.reads(), access.writes());
        let actions = [
            reads.then_some(Action::Read(access.location)),
            writes.then_some(Action::Write(access.location)),
        ];
        // A third equal access in a row changes nothing.
        let steps = &open.transaction.steps;
        let repeated = reads != writes
            && steps.len() > 1
            && steps[steps.len() - 2..]
                .iter()
                .all(|step| Some(step.action) == actions[0].or(actions[1]));
        if repeated {
            return;
        }
        for action in actions.into_iter().flatten() {
            open.transaction.steps.push(Step {
                action,
                origin: access.point.index,
            });
            open.events.push(Some((access.point, access.clock)));
        }
    }

    fn open(&mut self, owner: Owner, thread: ThreadId) -> &mut Open {
        let held = &self.held;
        self.open.entry(owner.unit).or_insert_with(|| {
            let entry = held.get(&thread).cloned().unwrap_or_default();
            Open {
                owner,
                transaction: Transaction {
                    thread,
                    steps: Vec::new(),
                    entry,
                },
                events: Vec::new(),
                proven: false,
            }
        })
    }

    /// Takes a lock operation in.
    pub fn event(&mut self, cx: &Context<'_>, event: &Event) {
        let action = match event.op {
            Op::Acquire { lock, mode } => Action::Acquire(lock, mode),
            Op::Resume { lock, .. } => Action::Acquire(lock, Mode::Exclusive),
            Op::Release { lock, mode } => Action::Release(lock, mode),
            Op::Wait { lock } => Action::Release(lock, Mode::Exclusive),
            _ => return,
        };
        self.steps += 1;
        let origin = self.steps;
        if let Some(owner) = cx.transaction(event.thread) {
            let open = self.open(owner, event.thread);
            if open.transaction.steps.len() < STEPS {
                open.transaction.steps.push(Step {
                    action,
                    origin: u64::MAX / 2 + origin,
                });
                open.events.push(None);
            }
        }
        let held = self.held.entry(event.thread).or_default();
        match action {
            Action::Acquire(lock, mode) => held.acquire(lock, mode, u64::MAX / 2 + origin + 1),
            Action::Release(lock, _) => held.release(lock),
            _ => {}
        }
    }

    /// A unit has ended.
    pub fn unit_end(&mut self, cx: &Context<'_>, unit: UnitId) {
        let Some(mut open) = self.open.remove(&unit) else {
            return;
        };
        open.proven = cx.is_proven(open.owner);
        let accesses = open.events.iter().any(Option::is_some);
        // For a while units stay of which some location is still one thread's.
        let new = || open.accesses().any(|(at, _)| !self.exposure.is_shared(at));
        let wanted = self.kept < KEPT || !open.open(cx, &self.exposure).is_empty() || (self.kept < 4 * KEPT && new());
        if accesses && wanted && self.shapes.insert(open.shape()) {
            self.kept += open.events.len();
            self.ended.push(open);
        }
    }

    /// Takes the blocks of the kept units, now that it is known which locations lie open.
    fn take_blocks(&mut self, cx: &Context<'_>) {
        let ended = std::mem::take(&mut self.ended);
        let mut open: FxHashSet<LocationId> = FxHashSet::default();
        let mut partners: FxHashSet<LocationId> = FxHashSet::default();
        for unit in &ended {
            let own = unit.open(cx, &self.exposure);
            if !own.is_empty() {
                open.extend(own);
                partners.extend(unit.accesses().map(|(location, _)| location));
            }
        }
        for mut unit in ended {
            if !unit.accesses().any(|(location, _)| open.contains(&location)) {
                continue;
            }
            let concerned = |step: &Step| match step.action {
                Action::Read(location) | Action::Write(location) => partners.contains(&location),
                _ => true,
            };
            let mut kept = unit
                .transaction
                .steps
                .iter()
                .map(concerned)
                .collect::<Vec<_>>()
                .into_iter();
            unit.events.retain(|_| kept.next().unwrap_or(false));
            unit.transaction.steps.retain(concerned);
            self.blocks_of(&unit, &open);
        }
    }

    fn blocks_of(&mut self, unit: &Open, open: &FxHashSet<LocationId>) {
        let is_lock = |step: &&Step| !matches!(step.action, Action::Read(_) | Action::Write(_));
        let locks = Rc::new(Transaction {
            thread: unit.transaction.thread,
            steps: unit.transaction.steps.iter().filter(is_lock).copied().collect(),
            entry: unit.transaction.entry.clone(),
        });
        let mut blocks: Vec<(LocationId, Vec<one::Block>)> = one::blocks(&unit.transaction).into_iter().collect();
        blocks.retain(|(location, _)| open.contains(location));
        blocks.sort_unstable_by_key(|(location, _)| *location);
        for (location, blocks) in blocks {
            for block in blocks {
                let accesses = std::iter::once(block.first).chain(block.second).collect();
                self.add(
                    SmallVec::from_slice(&[location]),
                    accesses,
                    block.throughout,
                    unit,
                    &locks,
                );
            }
        }
        let ends = two::ends(&unit.transaction);
        for block in two::two_blocks(&ends[..ends.len().min(ENDS)]) {
            let (first, second) = (block.first, block.second);
            if open.contains(&first.location) || open.contains(&second.location) {
                let throughout = first.held.still_held(&second.held);
                let accesses = [first.clone(), second.clone()].into_iter().collect();
                let locations = SmallVec::from_slice(&[first.location, second.location]);
                self.add(locations, accesses, throughout, unit, &locks);
            }
        }
    }

    fn add(
        &mut self,
        locations: SmallVec<[LocationId; 2]>,
        accesses: SmallVec<[Access; 2]>,
        throughout: Held,
        open: &Open,
        locks: &Rc<Transaction>,
    ) {
        let end = |access: &Access| {
            (
                access.kind,
                access.uninitialized,
                access.last,
                access.held.without_since(),
            )
        };
        let thread = open.transaction.thread;
        let throughout = throughout.without_since();
        let key = (
            locations,
            thread,
            (open.owner.kind, open.proven),
            accesses.iter().map(end).collect(),
            throughout.clone(),
        );
        let events: SmallVec<[(Point, ClockId); 2]> =
            accesses.iter().filter_map(|access| open.events[access.step]).collect();
        let after = accesses.iter().map(|access| access.epoch as usize).collect();
        let moment = || Instance {
            owner: open.owner,
            events: events.clone(),
            locks: locks.clone(),
            after,
        };
        if let Some(&id) = self.known.get(&key) {
            let class = &mut self.classes[id];
            let kept = class.latest.as_ref().unwrap_or(&class.first);
            let same = kept
                .events
                .iter()
                .map(|(_, clock)| clock)
                .eq(events.iter().map(|(_, clock)| clock));
            if !same {
                class.latest = Some(moment());
            }
            return;
        }
        if key.0.len() > 1 {
            if self.two_blocks >= TWO_BLOCKS {
                return;
            }
            self.two_blocks += 1;
        }
        let mut place = key.0.clone();
        place.sort_unstable();
        self.at.entry(place).or_default().push(self.classes.len());
        self.classes.push(Class {
            thread,
            proven: open.proven,
            accesses,
            throughout,
            first: moment(),
            latest: None,
        });
        self.known.insert(key, self.classes.len() - 1);
    }

    /// Compares all blocks of different threads at the same locations.
    pub fn finish(mut self, cx: &Context<'_>) -> Vec<RawReport> {
        self.take_blocks(cx);
        let mut places: Vec<_> = self.at.iter().collect();
        places.sort_unstable();
        let mut found = Found {
            cx,
            seen: FxHashSet::default(),
            reports: Vec::new(),
        };
        for (place, ids) in places {
            let classes: Vec<&Class> = ids.iter().map(|&id| &self.classes[id]).collect();
            if classes.iter().all(|class| class.thread == classes[0].thread) || guarded(&classes) {
                continue;
            }
            for (at, a) in classes.iter().enumerate() {
                for b in classes[at + 1..].iter().filter(|b| b.thread != a.thread) {
                    if place.len() == 1 {
                        if !a.proven {
                            found.one(a, b);
                        }
                        if !b.proven {
                            found.one(b, a);
                        }
                    } else {
                        found.two(a, b);
                    }
                }
            }
        }
        found.reports
    }
}

/// Whether one lock is held exclusively over all of every block.
fn guarded(classes: &[&Class]) -> bool {
    let first = classes[0].accesses[0].held.holds();
    first.iter().any(|lock| {
        let has = |held: &Held| {
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

struct Found<'a> {
    cx: &'a Context<'a>,
    seen: FxHashSet<(String, SmallVec<[SiteId; 4]>)>,
    reports: Vec<RawReport>,
}

impl Found<'_> {
    /// Looks for an access of `inner` inside a block of `outer`.
    fn one(&mut self, outer: &Class, inner: &Class) {
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

    fn two(&mut self, a: &Class, b: &Class) {
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
                if ordered || !feasible(a, first, b, second, wanted) {
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
        let synchronizes = |location| {
            self.cx
                .state
                .cells
                .seen(location)
                .is_some_and(|cell| cell.synchronizing)
        };
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
            Step {
                action,
                origin: moment.events[nth].0.index,
            },
        );
        at.push(position);
    }
    (transaction, at)
}
