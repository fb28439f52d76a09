//! Collects chains while a trace goes by.
//!
//! Which chains of a unit are collected: every access, with the latest earlier read and write of the same location (the
//! tight ones, which name the code best), and the first of each kind with the last (the wide ones: they hold the fewest locks
//! throughout and know the least order, so if any chain of that shape matches, the wide one does). Over two locations the
//! wide ones only; there a match is missed whose chain must end at an access with fewer locks than the last one has. Chains of three and more accesses, which only patterns of the user ask for, are enumerated from the first
//! [`LOG`] accesses of a unit.
//!
//! All patterns of the papers have a conflicting access in some unit's gap, so chains are taken only of units that touch a
//! location which lies open in some unit ([`crate::exposure`]). Units wait in a [window](crate::window) until that is known.
//!
//! **Bounds**, each a possible miss and counted: [`ACCESSES`] accesses of a unit, [`WINDOW`] accesses of
//! units in which nothing lies open so far, [`OF_CODE`] units of one thread and piece of code for each open location,
//! [`KEPT`] accesses of units for pairs of locations, [`PAIRED`] locations of a unit paired with each other, and those of
//! [`super::chains`].

mod take;

use ravel_trace::{LocationId, LockId, Mode, SiteId, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::chains::{Input, MOMENTS, Node, Nodes, Seen, Template, Variant};
use super::stretch::LockHistory;
use super::unit_log::{ACCESSES, AtLocation, UnitLog};
use crate::engine;
use crate::exposure::{Exposure, LET_GO, TOO_MANY_WAYS, Way};
use crate::finding::UnitKind;
use crate::locks::{LocksetId, Locksets};
use crate::sets::SetId;
use crate::stop::Stop;
use crate::units::{Owner, UnitId};
use crate::window::{Shapes, Window};

/// How many locations of one unit are paired with each other.
pub const PAIRED: usize = 32;
/// How many accesses of units wait.
pub const WINDOW: usize = 1 << 17;
/// How many accesses of units are kept for pairs of locations.
pub const KEPT: usize = 1 << 19;
/// How many units of one thread and piece of code are kept for each location that lies open.
pub const OF_CODE: u32 = 8;
/// How many accesses of one unit are kept for chains of three and more.
pub const LOG: usize = 48;
/// How many chains of three and more are taken from one unit.
pub const LONG_CHAINS: usize = 512;
/// How many logs of one unit are looked through before they get an index.
const FEW_SETS: usize = 8;
/// How many logs are kept to be used again.
const SPARE: usize = 1 << 12;
/// Logs of more accesses are not kept for that.
const USUAL: usize = 128;
/// How many past holds of a thread are remembered before those that no open unit needs are forgotten, and at most.
const HOLDS: (usize, usize) = (1 << 12, 1 << 20);

#[derive(Default)]
struct ThreadState {
    locks: LockHistory,
    /// The open units used last, by slot of [`Input::owners`].
    recent: [Option<(UnitId, SetId, usize)>; 2],
    open: usize,
}

/// Which templates are wanted, as indices; the shapes that every pattern of the papers uses have their own places.
#[derive(Default)]
struct Wanted {
    templates: Vec<Template>,
    single: [Option<usize>; 2],
    same: [[Option<usize>; 2]; 2],
    two: [[Option<usize>; 2]; 2],
    long: Vec<usize>,
}

/// What is remembered of single accesses that are alike.
#[derive(Clone, Default, Debug)]
struct Single {
    variants: SmallVec<[Variant; 1]>,
}

#[derive(Default)]
struct LeftOut {
    accesses: u64,
    of_code: u64,
    kept: u64,
    paired: u64,
    long: u64,
}

/// The collector.
pub struct Collector {
    wanted: Wanted,
    conflicts_only: bool,
    sets: Locksets,
    threads: Vec<ThreadState>,
    open: Vec<Option<UnitLog>>,
    free: Vec<usize>,
    spare: Vec<UnitLog>,
    of_unit: FxHashMap<UnitId, SmallVec<[usize; 1]>>,
    /// The same by set, of units that touch more than [`FEW_SETS`].
    of_set: FxHashMap<(UnitId, SetId, UnitKind), usize>,
    /// Where a location was last found in a log.
    hints: Vec<u16>,
    shapes: Shapes,
    window: Window<UnitLog>,
    of_code: FxHashMap<(ThreadId, SiteId, LocationId), u32>,
    nodes: Nodes,
    exposure: Exposure<Single>,
    ended: Vec<UnitLog>,
    kept: usize,
    left_out: LeftOut,
}

/// What was collected.
pub struct Collected {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The sets of locks that they name.
    pub sets: Locksets,
    /// What was left out at bounds, each as a sentence.
    pub left_out: Vec<String>,
}

impl Default for Collector {
    fn default() -> Self {
        Collector::new(&[], true)
    }
}

impl Collector {
    /// A collector of these templates. With `conflicts_only`, chains are left out if no pattern can be made of them
    /// that has a conflicting access in some unit's gap.
    pub fn new(templates: &[Template], conflicts_only: bool) -> Self {
        let mut wanted = Wanted {
            templates: templates.to_vec(),
            ..Wanted::default()
        };
        for (id, template) in templates.iter().enumerate() {
            match template[..] {
                [(0, kind)] => wanted.single[kind as usize] = Some(id),
                [(0, first), (0, second)] => wanted.same[first as usize][second as usize] = Some(id),
                [(0, first), (1, second)] => wanted.two[first as usize][second as usize] = Some(id),
                _ => wanted.long.push(id),
            }
        }
        Collector {
            wanted,
            conflicts_only,
            sets: Locksets::default(),
            threads: Vec::new(),
            open: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            of_unit: FxHashMap::default(),
            of_set: FxHashMap::default(),
            hints: Vec::new(),
            shapes: Shapes::default(),
            window: Window::new(WINDOW),
            of_code: FxHashMap::default(),
            nodes: Nodes::default(),
            exposure: Exposure::default(),
            ended: Vec::new(),
            kept: 0,
            left_out: LeftOut::default(),
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut ThreadState {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadState::default);
        }
        &mut self.threads[thread.index()]
    }

    /// A lock is taken, or got back after waiting.
    pub fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: Mode) {
        self.thread(thread);
        let state = &mut self.threads[thread.index()];
        if state.open == 0 && state.locks.len() >= HOLDS.0 || state.locks.len() >= HOLDS.1 {
            state.locks.forget();
        }
        state.locks.acquire(lock, mode, &mut self.sets);
    }

    /// A lock is given up.
    pub fn release(&mut self, thread: ThreadId, lock: LockId) {
        self.thread(thread);
        self.threads[thread.index()].locks.release(lock, &mut self.sets);
    }

    /// An access.
    #[inline]
    pub fn access(&mut self, input: &Input) {
        let locks = &self.thread(input.point.thread).locks;
        let seen = Seen {
            point: input.point,
            location: input.location,
            clock: input.clock,
            held: locks.now(),
            mark: locks.mark(),
        };
        if !input.repeated {
            self.single(&seen, input.owners[1].or(input.owners[0]));
        }
        for slot in 0..2 {
            if let Some(owner) = input.owners[slot] {
                self.in_unit(slot, owner, input, &seen);
            }
        }
    }

    fn single(&mut self, seen: &Seen, owner: Option<Owner>) {
        let point = seen.point;
        let way = Way {
            location: seen.location,
            thread: point.thread,
            kind: point.kind,
            locks: seen.held,
            site: point.site,
            clock: seen.clock,
        };
        if let Some(known) = self.exposure.note(&way, &self.sets) {
            let variants = &mut known.variants;
            self.nodes.moments.add(variants, owner, std::slice::from_ref(seen));
        }
    }

    fn open_unit(&mut self, slot: usize, owner: Owner, set: SetId, thread: ThreadId) -> usize {
        if let Some((unit, of, id)) = self.threads[thread.index()].recent[slot]
            && (unit, of) == (owner.unit, set)
        {
            return id;
        }
        let open = self.of_unit.entry(owner.unit).or_default();
        let is_wanted = |unit: &UnitLog| unit.set == set && unit.owner.kind == owner.kind;
        let known = match open.len() {
            0..=FEW_SETS => {
                let mut open = open.iter().copied();
                open.find(|&id| self.open[id].as_ref().is_some_and(is_wanted))
            }
            _ => self.of_set.get(&(owner.unit, set, owner.kind)).copied(),
        };
        let id = known.unwrap_or_else(|| {
            let log = match self.spare.pop() {
                Some(mut log) => {
                    log.reuse(owner, set, thread);
                    log
                }
                None => UnitLog::new(owner, set, thread),
            };
            let id = self.free.pop().unwrap_or_else(|| {
                self.open.push(None);
                self.open.len() - 1
            });
            self.open[id] = Some(log);
            self.threads[thread.index()].open += 1;
            open.push(id);
            let new: &[usize] = match open.len() {
                0..=FEW_SETS => &[],
                // All so far get their place in the index.
                len if len == FEW_SETS + 1 => &open[..],
                len => &open[len - 1..],
            };
            for &id in new {
                if let Some(unit) = &self.open[id] {
                    self.of_set.insert((owner.unit, unit.set, unit.owner.kind), id);
                }
            }
            id
        });
        self.threads[thread.index()].recent[slot] = Some((owner.unit, set, id));
        id
    }

    fn in_unit(&mut self, slot: usize, owner: Owner, input: &Input, seen: &Seen) {
        let id = self.open_unit(slot, owner, input.set, seen.point.thread);
        let location = seen.location.index();
        if self.hints.len() <= location {
            self.hints.resize(location + 1, 0);
        }
        let Some(unit) = &mut self.open[id] else { return };
        let mut hint = usize::from(self.hints[location]);
        if !unit.push(seen, &mut hint, input.conditional, &self.wanted.same) {
            self.left_out.accesses += 1;
        }
        self.hints[location] = hint as u16;
    }

    /// A unit has ended.
    pub fn unit_end(&mut self, unit: UnitId) {
        let Some(open) = self.of_unit.remove(&unit) else { return };
        let many = open.len() > FEW_SETS;
        for id in open {
            let Some(unit) = self.open[id].take() else { continue };
            self.free.push(id);
            if many {
                self.of_set.remove(&(unit.owner.unit, unit.set, unit.owner.kind));
            }
            let state = &mut self.threads[unit.thread.index()];
            state.open -= 1;
            state
                .recent
                .iter_mut()
                .filter(|slot| slot.is_some_and(|(_, _, open)| open == id))
                .for_each(|slot| *slot = None);
            self.ended(unit);
        }
    }

    fn ended(&mut self, mut unit: UnitLog) {
        // A chain has two accesses or more; single ones are remembered elsewhere.
        let [first, .., last] = &unit.accesses[..] else {
            self.recycle(unit);
            return;
        };
        if !self.shapes.is_new(unit.shape()) {
            self.recycle(unit);
            return;
        }
        if unit.accesses.iter().any(|seen| seen.mark != first.mark) {
            let locks = &self.threads[unit.thread.index()].locks;
            unit.locks = Some(Box::new(locks.part(first.mark, last.mark)));
        }
        self.open_up(&unit);
        let size = unit.accesses.len();
        self.window.push(unit, size);
        while let Some(oldest) = self.window.overflow() {
            self.open_up(&oldest);
            self.leave(oldest);
        }
    }

    /// Keeps a log to be used again.
    fn recycle(&mut self, unit: UnitLog) {
        if self.spare.len() < SPARE && unit.accesses.capacity() <= USUAL {
            self.spare.push(unit);
        }
    }

    /// The locations of a unit that others can touch while it runs are open from now on.
    fn open_up(&mut self, unit: &UnitLog) {
        let kept = self.throughout(unit);
        for at in &unit.at {
            // A unit that keeps its locks all along holds at each access what guards the location.
            if unit.locks.is_none() && !self.exposure.is_unguarded(at.location) {
                continue;
            }
            if self.is_open(at.location, unit.thread, unit.writes(at), kept) {
                self.exposure.open_up(at.location);
            }
        }
    }

    fn is_open(&self, location: LocationId, thread: ThreadId, writes: bool, kept: LocksetId) -> bool {
        let lets_in = |locks| self.sets.compatible(kept, locks);
        let keeps = |lock| self.sets.locks(kept).iter().any(|held| held.lock == lock);
        self.exposure.is_open(location, thread, writes, keeps, lets_in)
    }

    /// What a unit holds from its first access to its last.
    fn throughout(&self, unit: &UnitLog) -> LocksetId {
        match (unit.accesses.first(), unit.accesses.last(), &unit.locks) {
            (Some(first), Some(last), Some(locks)) => locks.throughout(first.mark, last.mark),
            (Some(first), ..) => first.held,
            _ => LocksetId::EMPTY,
        }
    }

    /// A unit leaves the window: its chains are taken if it touches what lies open.
    fn leave(&mut self, unit: UnitLog) {
        let lies_open = |at: &&AtLocation| !self.conflicts_only || self.exposure.was_opened(at.location);
        let opened: SmallVec<[LocationId; 16]> = unit.at.iter().filter(lies_open).map(|at| at.location).collect();
        if opened.is_empty() {
            unit.at.iter().for_each(|at| self.exposure.let_go(at.location));
            self.recycle(unit);
            return;
        }
        if self.conflicts_only {
            let code = unit.accesses.first().map_or(SiteId(0), |seen| seen.point.site);
            let known = |location| self.of_code.get(&(unit.thread, code, location)).copied().unwrap_or(0);
            if opened.iter().all(|&location| known(location) >= OF_CODE) {
                self.left_out.of_code += 1;
                self.recycle(unit);
                return;
            }
            for &location in &opened {
                *self.of_code.entry((unit.thread, code, location)).or_default() += 1;
            }
        }
        self.one_location(&unit, &opened);
        self.long_chains(&unit);
        if unit.at.len() < 2 || self.wanted.two.iter().flatten().all(Option::is_none) {
            self.recycle(unit);
        } else if self.kept >= KEPT {
            self.left_out.kept += 1;
            self.recycle(unit);
        } else {
            let mut unit = unit;
            self.kept += unit.accesses.len();
            unit.shrink();
            self.ended.push(unit);
        }
    }

    /// The nodes, the sets of locks they name, and what was left out.
    pub fn finish(mut self, stop: &Stop<'_>) -> Collected {
        let mut last = Vec::new();
        while let Some(unit) = self.window.pop() {
            self.open_up(&unit);
            last.push(unit);
        }
        let mut asked = 0;
        for unit in last {
            if stop.now_and_then(&mut asked) {
                break;
            }
            self.leave(unit);
        }
        self.two_locations(stop);
        self.mark_open();
        self.singles();
        let left_out = self.words();
        Collected {
            nodes: self.nodes.all,
            sets: self.sets,
            left_out,
        }
    }

    fn words(&self) -> Vec<String> {
        let left_out = &self.left_out;
        let counts = [
            (
                left_out.accesses,
                format!("accesses of units that have more than {ACCESSES}"),
            ),
            (
                left_out.of_code,
                format!("units of code that has more than {OF_CODE} different ones for each variable"),
            ),
            (
                left_out.kept,
                format!("units from pairs of variables, with {KEPT} accesses already kept"),
            ),
            (
                left_out.paired,
                format!("units from pairs of variables beyond their first {PAIRED}"),
            ),
            (
                left_out.long,
                format!("units from chains of three and more accesses beyond their first {LOG}"),
            ),
            (
                self.nodes.left_out,
                "chains of accesses, because too many were alike".to_owned(),
            ),
            (
                self.nodes.moments.left_out,
                format!("moments of accesses that came in more than {MOMENTS}, or had to make room"),
            ),
            (self.exposure.let_go_of_opened(), LET_GO.to_owned()),
            (self.exposure.left_out(), TOO_MANY_WAYS.to_owned()),
        ];
        engine::left_out("patterns", counts.iter().map(|(count, what)| (*count, what.as_str())))
    }
}
