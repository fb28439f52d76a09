//! Blocks of a whole trace: every unit's blocks, equal ones made one, compared in pairs of threads.
//!
//! A unit here is a transaction on everything that it touches (the outermost section, method or declared unit), as in the
//! paper. Whether another thread can touch a location while some unit runs is often known only after that unit has ended,
//! so units wait in a [window](crate::window); blocks are taken of those that touch a location which lies open in some
//! unit ([`crate::exposure`] has the argument), and equal ones (in thread, location, kinds, flags
//! and locks) are one. Comparison is by [`feasibility`](super::feasibility) on the
//! lock steps of the two units, so it is exact for the two even where they may deadlock; then hard order must allow it.
//!
//! **Bounds**, each a possible miss and counted: [`STEPS`] steps of a unit, [`WINDOW`] steps of units in which nothing lies open
//! so far, [`KEPT`] steps of others, [`OF_CODE`] different units of one thread and piece of code for each open location, [`ENDS`] of a unit's
//! uninitialised reads and final writes paired, [`CLASSES`] different blocks at one place, [`TWO_BLOCKS`] different
//! 2-blocks and [`OF_PLACES`] of one thread at the same places; of equal blocks the first and the latest moment.

mod open;

use ravel_trace::{LocationId, Mode, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

use super::compare::{Class, Found, Instance, STATES, guarded};
use super::{one, sets, two};
use crate::engine::{self, Access as Seen, Context, Happened, View};
use crate::exposure::{Exposure, LET_GO, TOO_MANY_WAYS, Way};
use crate::finding::UnitKind;
use crate::focus::Shorten;
use crate::locks::LockTable;
use crate::order::ClockId;
use crate::raw::{Point, RawReport};
use crate::transaction::{Access, Action, HeldLocks, Kind, Transaction, TransactionStep};
use crate::units::{Owner, UnitId};
use crate::window::{Shapes, Window};
use open::Code;
pub(crate) use open::Open;

/// How many steps of one unit are looked at.
pub const STEPS: usize = 512;
/// How many uninitialised reads and final writes of one unit are paired with each other.
pub const ENDS: usize = 64;
/// How many steps of units wait.
pub const WINDOW: usize = 1 << 17;
/// How many steps of units that matter are kept.
pub const KEPT: usize = 1 << 19;
/// How many different units of one thread and piece of code are kept for each location that lies open.
pub const OF_CODE: u32 = 8;
/// How many different blocks are compared at one place.
pub const CLASSES: usize = 256;
/// How many different 2-blocks are kept.
pub const TWO_BLOCKS: usize = 1 << 16;
/// How many units are kept to be used again.
const SPARE: usize = 1 << 11;
/// How many different 2-blocks of one thread at the same two places in code are kept.
pub const OF_PLACES: u32 = 16;

type End = (Kind, bool, bool, HeldLocks);
type Key = (
    SmallVec<[LocationId; 2]>,
    ThreadId,
    (UnitKind, bool),
    SmallVec<[End; 2]>,
    HeldLocks,
);

/// What was left out at each bound.
#[derive(Default)]
struct LeftOut {
    steps: u64,
    kept: u64,
    of_code: u64,
    ends: u64,
    classes: u64,
    two_blocks: u64,
    of_places: u64,
    uncompared: u64,
    sets: u64,
    unknown: u64,
}

/// Collects the blocks of units while a trace goes by.
pub struct Units {
    /// The open unit of each thread.
    open: Vec<Option<Open>>,
    spare: Vec<Open>,
    shorten: Option<Shorten>,
    exposure: Exposure<()>,
    shapes: Shapes,
    window: Window<Open>,
    /// Those that were still waiting when the trace ended.
    last: Vec<Open>,
    ended: Vec<Open>,
    /// Those of them that touch what lies open, with the steps that matter.
    concerned: Vec<Open>,
    kept: usize,
    of_code: FxHashMap<(Code, LocationId), u32>,
    held: FxHashMap<ThreadId, HeldLocks>,
    steps: u64,
    known: FxHashMap<Key, usize>,
    /// Blocks of one variable by location, and of two by both.
    at: FxHashMap<SmallVec<[LocationId; 2]>, Vec<usize>>,
    classes: Vec<Class>,
    two_blocks: usize,
    of_places: FxHashMap<(ThreadId, SmallVec<[SiteId; 2]>), u32>,
    left_out: LeftOut,
}

impl Default for Units {
    fn default() -> Self {
        Units {
            open: Vec::new(),
            spare: Vec::new(),
            shorten: None,
            exposure: Exposure::default(),
            shapes: Shapes::default(),
            window: Window::new(WINDOW),
            last: Vec::new(),
            ended: Vec::new(),
            concerned: Vec::new(),
            kept: 0,
            of_code: FxHashMap::default(),
            held: FxHashMap::default(),
            steps: 0,
            known: FxHashMap::default(),
            at: FxHashMap::default(),
            classes: Vec::new(),
            two_blocks: 0,
            of_places: FxHashMap::default(),
            left_out: LeftOut::default(),
        }
    }
}

impl Units {
    /// How units that are proven atomic are made shorter, if at all.
    pub fn shorten_by(&mut self, shorten: Option<Shorten>) {
        self.shorten = shorten;
    }

    /// Takes an access in.
    pub fn access(&mut self, view: &View, access: &Seen) {
        if access.cell.exempt || access.cell.lock_state {
            return;
        }
        let point = access.point;
        if !access.repeated {
            let way = Way {
                location: access.location,
                thread: point.thread,
                kind: point.kind,
                locks: point.locks,
                site: SiteId(0),
                clock: ClockId(0),
            };
            self.exposure.note(&way, &view.locksets);
        }
        let Some(owner) = access.owners.whole else { return };
        let open = self.open(owner, access.point.thread);
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
        if steps.len() >= STEPS {
            self.left_out.steps += 1;
            return;
        }
        for action in actions.into_iter().flatten() {
            open.transaction.steps.push(TransactionStep {
                action,
                origin: access.point.index,
            });
            open.events.push(Some((access.point, access.clock)));
        }
    }

    fn open(&mut self, owner: Owner, thread: ThreadId) -> &mut Open {
        if self.open.len() <= thread.index() {
            self.open.resize_with(thread.index() + 1, || None);
        }
        let slot = &mut self.open[thread.index()];
        if slot.as_ref().is_some_and(|open| open.owner.unit != owner.unit) {
            *slot = None;
        }
        let (held, spare) = (&self.held, &mut self.spare);
        slot.get_or_insert_with(|| {
            let entry = held.get(&thread).cloned().unwrap_or_default();
            let mut open = spare.pop().unwrap_or_else(|| Open {
                owner,
                code: (thread, None, SiteId(0)),
                transaction: Transaction {
                    thread,
                    steps: Vec::new(),
                    entry: HeldLocks::default(),
                },
                events: Vec::new(),
                proven: false,
            });
            open.owner = owner;
            open.transaction.thread = thread;
            open.transaction.entry = entry;
            open.transaction.steps.clear();
            open.events.clear();
            open
        })
    }

    /// Takes a lock operation in.
    pub fn event(&mut self, happened: &Happened) {
        let event = &happened.event;
        let action = match event.op {
            Op::Acquire { lock, mode } => Action::Acquire(lock, mode),
            Op::Resume { lock, .. } => Action::Acquire(lock, Mode::Exclusive),
            Op::Release { lock, mode } => Action::Release(lock, mode),
            Op::Wait { lock } => Action::Release(lock, Mode::Exclusive),
            _ => return,
        };
        self.steps += 1;
        let origin = self.steps;
        if let Some(owner) = happened.transaction {
            let open = self.open(owner, event.thread);
            if open.transaction.steps.len() < STEPS {
                open.transaction.steps.push(TransactionStep {
                    action,
                    origin: u64::MAX / 2 + origin,
                });
                open.events.push(None);
            } else {
                self.left_out.steps += 1;
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
    pub fn unit_end(&mut self, view: &View, unit: UnitId) {
        let info = view.units.info(unit);
        let Some(mut open) = self
            .open
            .get_mut(info.thread.index())
            .and_then(|slot| slot.take_if(|open| open.owner.unit == unit))
        else {
            return;
        };
        open.code = (info.thread, info.method, info.site);
        open.proven = view.units.is_proven(open.owner);
        if open.proven
            && let Some(shorten) = self.shorten
        {
            open.shorten(shorten);
        }
        if !open.events.iter().any(Option::is_some) || !self.shapes.is_new(open.shape()) {
            self.recycle(open);
            return;
        }
        for location in open.open(&view.locksets, &self.exposure) {
            self.exposure.open_up(location);
        }
        let steps = open.events.len();
        self.window.push(open, steps);
        while let Some(oldest) = self.window.overflow() {
            self.leave(&view.locksets, oldest);
        }
    }

    /// Keeps a unit's room to be used again.
    fn recycle(&mut self, unit: Open) {
        if self.spare.len() < SPARE {
            self.spare.push(unit);
        }
    }

    /// A unit leaves the window: it is kept if it touches what lies open in some unit.
    fn leave(&mut self, sets: &LockTable, unit: Open) {
        let own = unit.open(sets, &self.exposure);
        own.iter().for_each(|location| self.exposure.open_up(*location));
        let opened: SmallVec<[LocationId; 16]> = unit
            .accesses()
            .map(|(location, _)| location)
            .filter(|location| self.exposure.was_opened(*location))
            .collect();
        if opened.is_empty() {
            unit.accesses().for_each(|(location, _)| self.exposure.let_go(location));
            self.recycle(unit);
            return;
        }
        let known = |location| self.of_code.get(&(unit.code, location)).copied().unwrap_or(0);
        if opened.iter().all(|&location| known(location) >= OF_CODE) {
            self.left_out.of_code += 1;
        } else if self.kept >= KEPT {
            self.left_out.kept += 1;
        } else {
            for location in opened {
                *self.of_code.entry((unit.code, location)).or_default() += 1;
            }
            let mut unit = unit;
            self.kept += unit.events.len();
            unit.events.shrink_to_fit();
            unit.transaction.steps.shrink_to_fit();
            self.ended.push(unit);
            return;
        }
        self.recycle(unit);
    }

    /// What was left out at bounds, each as a sentence.
    pub fn left_out(&self) -> Vec<String> {
        let left_out = &self.left_out;
        let counts = [
            (left_out.steps, format!("steps of units longer than {STEPS}")),
            (left_out.kept, format!("units, with {KEPT} steps already kept")),
            (
                left_out.of_code,
                format!("units of methods with more than {OF_CODE} variants at a variable"),
            ),
            (
                left_out.ends,
                format!("units from pairs of variables beyond their first {ENDS} accesses"),
            ),
            (
                left_out.classes,
                format!("blocks at places that have more than {CLASSES}"),
            ),
            (
                left_out.of_places,
                format!("blocks of two variables at places in code that have more than {OF_PLACES}"),
            ),
            (
                left_out.uncompared,
                format!("comparisons of blocks beyond {STATES} states of pairs of units"),
            ),
            (
                left_out.sets,
                format!("sets of three and more units beyond {}", sets::SETS),
            ),
            (
                left_out.unknown,
                format!(
                    "sets of three and more units that have more than {} interleavings, or a unit of more than {} steps",
                    sets::STRIDES,
                    sets::LONGEST
                ),
            ),
            (
                left_out.two_blocks,
                format!("blocks of two variables beyond {TWO_BLOCKS}"),
            ),
            (self.exposure.let_go_of_opened(), LET_GO.to_owned()),
            (self.exposure.left_out(), TOO_MANY_WAYS.to_owned()),
        ];
        engine::left_out("blocks", counts.iter().map(|(count, what)| (*count, what.as_str())))
    }

    /// Takes the blocks of the kept units, now that it is known which locations lie open.
    fn take_blocks(&mut self, cx: &Context<'_>) {
        while let Some(unit) = self.window.pop() {
            let own = unit.open(&cx.state.locksets, &self.exposure);
            own.iter().for_each(|location| self.exposure.open_up(*location));
            self.last.push(unit);
        }
        let mut asked = 0;
        for unit in std::mem::take(&mut self.last) {
            if cx.stop.now_and_then(&mut asked) {
                break;
            }
            self.leave(&cx.state.locksets, unit);
        }
        let ended = std::mem::take(&mut self.ended);
        let mut open: FxHashSet<LocationId> = FxHashSet::default();
        let mut partners: FxHashSet<LocationId> = FxHashSet::default();
        for unit in &ended {
            let own = unit.open(&cx.state.locksets, &self.exposure);
            if !own.is_empty() {
                open.extend(own);
                partners.extend(unit.accesses().map(|(location, _)| location));
            }
        }
        for mut unit in ended {
            if cx.stop.now_and_then(&mut asked) {
                break;
            }
            if !unit.accesses().any(|(location, _)| open.contains(&location)) {
                continue;
            }
            let concerned = |step: &TransactionStep| match step.action {
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
            self.concerned.push(unit);
        }
    }

    fn blocks_of(&mut self, unit: &Open, open: &FxHashSet<LocationId>) {
        let is_lock = |step: &&TransactionStep| !matches!(step.action, Action::Read(_) | Action::Write(_));
        let locks = Arc::new(Transaction {
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
        self.left_out.ends += u64::from(ends.len() > ENDS);
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
        throughout: HeldLocks,
        open: &Open,
        locks: &Arc<Transaction>,
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
                self.left_out.two_blocks += 1;
                return;
            }
            let sites = events.iter().map(|(point, _)| point.site).collect();
            let of_places = self.of_places.entry((thread, sites)).or_default();
            if *of_places >= OF_PLACES {
                self.left_out.of_places += 1;
                return;
            }
            *of_places += 1;
            self.two_blocks += 1;
        }
        let mut place = key.0.clone();
        place.sort_unstable();
        let there = self.at.entry(place).or_default();
        if there.len() >= CLASSES {
            self.left_out.classes += 1;
            return;
        }
        there.push(self.classes.len());
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
    pub fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        self.take_blocks(cx);
        let mut places: Vec<_> = self.at.iter().collect();
        places.sort_unstable();
        let mut found = Found::new(cx);
        let mut asked = 0;
        for (place, ids) in places {
            if cx.stop.now_and_then(&mut asked) {
                break;
            }
            let classes: Vec<&Class> = ids.iter().map(|&id| &self.classes[id]).collect();
            if classes.iter().all(|class| class.thread == classes[0].thread) || guarded(&classes) {
                continue;
            }
            for (at, a) in classes.iter().enumerate() {
                for b in classes[at + 1..].iter().filter(|b| b.thread != a.thread) {
                    if cx.stop.now_and_then(&mut asked) {
                        break;
                    }
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
        let mut reports = found.reports;
        self.left_out.uncompared = found.uncompared;
        let mut sets = sets::check(cx, &self.concerned);
        (self.left_out.sets, self.left_out.unknown) = (sets.skipped, sets.unknown);
        reports.append(&mut sets.reports);
        reports
    }
}
