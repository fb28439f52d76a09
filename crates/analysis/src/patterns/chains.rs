//! The compact graph that patterns are searched in: chains of accesses, with equal ones made one.
//!
//! A pattern asks of each of its units for a *chain*: one access, two accesses to one location, two to different ones, or
//! more. While the trace goes by, the chains of every unit are collected; those that no pattern can tell apart (same thread,
//! locations, kinds, locks held, held throughout and taken meanwhile, same order known) become one node. Of chains at
//! many places in code the first [`PLACES`] keep their places apart and the others share the last.
//!
//! Which chains of a unit are collected: every access, with the latest earlier read and write of the same location (the
//! tight ones, which name the code best), and the first of each kind with the last (the wide ones: they hold the fewest locks
//! throughout and know the least order, so if any chain of that shape matches, the wide one does). Over two locations the
//! wide ones only, and only for locations of which one lies open ([`super::exposure`]); units are kept until that is known, and
//! when more than [`KEPT`] ends of units are, those that do not lie open so far are let go. Chains of three and more accesses, which only patterns of the user ask for, are enumerated from the first
//! [`LOG`] accesses of a unit.

use ravel_trace::{LocationId, LockId, Mode, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

use super::exposure::Exposure;
use super::stretch::{LockHistory, Mark};
use crate::locks::{LocksetId, Locksets};
use crate::order::ClockId;
use crate::raw::{Point, StepKind};
use crate::sets::SetId;
use crate::transaction::Kind;
use crate::units::{Owner, UnitId};

/// How many places of equal chains are kept apart.
pub const PLACES: usize = 8;
/// How many locations of one unit are paired with each other.
pub const PAIRED: usize = 64;
/// How many nodes are kept whatever they are; beyond, pairs of accesses to a location only if another thread can come between
/// as far as is known by then.
pub const NODES: usize = 1 << 17;
/// How many first and last accesses of units are kept for pairs whatever they are.
pub const KEPT: usize = 1 << 16;
/// How many accesses of one unit are kept for chains of three and more.
pub const LOG: usize = 48;
/// How many chains of three and more are taken from one unit.
pub const LONG_CHAINS: usize = 512;
/// How many nodes over two or more locations are kept; more are counted, not kept.
pub const PAIR_NODES: usize = 1 << 20;

/// The shape of a chain: for each access, which of the chain's variables, and its kind.
pub type Template = SmallVec<[(u8, Kind); 4]>;

/// An access as the collector is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// When, who and where.
    pub point: Point,
    /// The cell.
    pub location: LocationId,
    /// What the thread knew of the hard order.
    pub clock: ClockId,
    /// The locks held, in the collector's own numbering.
    pub held: LocksetId,
    mark: Mark,
}

/// What the collector must know of an access.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// When, who and where.
    pub point: Point,
    /// The cell.
    pub location: LocationId,
    /// Its atomic set.
    pub set: SetId,
    /// The units it belongs to, the second only if it is another.
    pub owners: [Option<Owner>; 2],
    /// What the thread knew of the hard order.
    pub clock: ClockId,
    /// Succeeds only if nothing was written since the thread looked (`compareAndSet`), so nothing can have come before it.
    pub conditional: bool,
}

/// Chains that no pattern can tell apart but by their places.
#[derive(Clone, Debug)]
pub struct Node {
    /// Which template.
    pub template: usize,
    /// The locations, by variable of the template.
    pub locations: SmallVec<[LocationId; 2]>,
    /// Who.
    pub thread: ThreadId,
    /// The locks held at each access.
    pub held: SmallVec<[LocksetId; 2]>,
    /// The locks held from each access to the next.
    pub throughout: SmallVec<[LocksetId; 1]>,
    /// The locks held at any time from each access to the next.
    pub during: SmallVec<[LocksetId; 1]>,
    /// Whether another thread, as far as locks go, can come between its accesses (or make a conflicting one at the same time as
    /// its only access).
    pub open: bool,
    /// Place by place, when it happened.
    pub variants: SmallVec<[Variant; 1]>,
}

/// Chains at the same places.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Where each access is.
    pub places: SmallVec<[SiteId; 2]>,
    /// One for each moment of the hard order, in program order.
    pub occurrences: Vec<Occurrence>,
}

/// One chain.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The unit; for single accesses the one that best describes it, if any.
    pub owner: Option<Owner>,
    /// The accesses.
    pub events: SmallVec<[Event; 1]>,
}

/// One access of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// When, who and where.
    pub point: Point,
    /// What the thread knew of the hard order.
    pub clock: ClockId,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    template: usize,
    owner: Option<crate::finding::UnitKind>,
    thread: ThreadId,
    locations: SmallVec<[LocationId; 2]>,
    held: SmallVec<[LocksetId; 2]>,
    throughout: SmallVec<[LocksetId; 1]>,
    during: SmallVec<[LocksetId; 1]>,
}

#[derive(Clone, Copy, Debug)]
struct AtLocation {
    location: LocationId,
    first: [Option<Seen>; 2],
    last: [Option<Seen>; 2],
    /// The last access, and how often in a row it came as it was.
    latest: Seen,
    repeated: u32,
    accesses: u32,
}

/// A location, its first accesses by kind, its last accesses by kind.
type Ends = (LocationId, [Option<Seen>; 2], [Option<Seen>; 2]);

/// The first and last accesses of an ended unit, for pairs of locations.
struct Ended {
    owner: Owner,
    thread: ThreadId,
    /// What the unit holds from its first access to its last.
    throughout: LocksetId,
    ends: Vec<Ends>,
}

struct OpenUnit {
    owner: Owner,
    set: SetId,
    thread: ThreadId,
    at: Vec<AtLocation>,
    index: FxHashMap<LocationId, usize>,
    log: Vec<(Seen, Kind)>,
}

#[derive(Default)]
struct ThreadState {
    locks: LockHistory,
    /// The open units used last, by slot of [`Input::owners`].
    recent: [Option<(UnitId, SetId, usize)>; 2],
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
    latest: Option<(SiteId, ClockId)>,
    variants: SmallVec<[Variant; 1]>,
}

/// Collects chains while a trace goes by.
#[derive(Default)]
pub struct Collector {
    wanted: Wanted,
    conflicts_only: bool,
    sets: Locksets,
    threads: Vec<ThreadState>,
    open: Vec<Option<OpenUnit>>,
    free: Vec<usize>,
    of_unit: FxHashMap<UnitId, SmallVec<[usize; 1]>>,
    shapes: FxHashSet<u64>,
    nodes: Vec<Node>,
    ids: FxHashMap<Key, usize>,
    exposure: Exposure<Single>,
    ended: Vec<Ended>,
    kept: usize,
    pair_nodes: usize,
    dropped: u64,
}

impl Collector {
    /// A collector of these templates. With `conflicts_only`, pairs of locations are left out of which no pattern can be made
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
            ..Collector::default()
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
        self.threads[thread.index()].locks.acquire(lock, mode, &mut self.sets);
    }

    /// A lock is given up.
    pub fn release(&mut self, thread: ThreadId, lock: LockId) {
        self.thread(thread);
        self.threads[thread.index()].locks.release(lock, &mut self.sets);
    }

    /// An access.
    #[inline]
    pub fn access(&mut self, input: &Input) {
        let thread = input.point.thread;
        let locks = &self.thread(thread).locks;
        let seen = Seen {
            point: input.point,
            location: input.location,
            clock: input.clock,
            held: locks.now(),
            mark: locks.mark(),
        };
        self.single(&seen, input.owners[1].or(input.owners[0]));
        for slot in 0..2 {
            if let Some(owner) = input.owners[slot] {
                self.in_unit(slot, owner, input, seen);
            }
        }
    }

    fn single(&mut self, seen: &Seen, owner: Option<Owner>) {
        let point = seen.point;
        let Some(known) = self
            .exposure
            .note(seen.location, point.thread, point.kind, seen.held, &self.sets)
        else {
            return;
        };
        // An access seen before in the same moment adds nothing.
        if known.latest != Some((point.site, seen.clock)) {
            known.latest = Some((point.site, seen.clock));
            add_variant(&mut known.variants, owner, std::slice::from_ref(seen));
        }
    }

    /// Makes nodes of the single accesses that some pattern can use: those at locations that lie open.
    fn singles(&mut self) {
        let lean = self.conflicts_only && self.wanted.long.is_empty();
        let mut hot: FxHashSet<LocationId> = FxHashSet::default();
        hot.extend(
            self.nodes
                .iter()
                .filter(|node| node.open)
                .flat_map(|node| node.locations.iter().copied()),
        );
        let conflicting: Vec<LocationId> = self.exposure.conflicting().collect();
        for location in conflicting {
            let open = |thread, kind: StepKind, locks| self.is_open(location, thread, kind.writes(), locks);
            let mut ways = self.exposure.at(location);
            if lean && !hot.contains(&location) && !ways.any(|(thread, kind, locks, _)| open(thread, kind, locks)) {
                continue;
            }
            for (thread, does, locks, what) in self.exposure.at(location) {
                for (kind, does_it) in [(Kind::Read, does.reads()), (Kind::Write, does.writes())] {
                    let (true, Some(template)) = (does_it, self.wanted.single[kind as usize]) else {
                        continue;
                    };
                    self.nodes.push(Node {
                        template,
                        locations: SmallVec::from_slice(&[location]),
                        thread,
                        held: SmallVec::from_slice(&[locks]),
                        throughout: SmallVec::new(),
                        during: SmallVec::new(),
                        open: self.is_open(location, thread, kind == Kind::Write, locks),
                        variants: what.variants.clone(),
                    });
                }
            }
        }
    }

    fn is_open(&self, location: LocationId, thread: ThreadId, writes: bool, kept: LocksetId) -> bool {
        let lets_in = |locks| self.sets.compatible(kept, locks);
        let keeps = |lock| self.sets.locks(kept).iter().any(|held| held.lock == lock);
        self.exposure.is_open(location, thread, writes, keeps, lets_in)
    }

    fn open_unit(&mut self, slot: usize, owner: Owner, set: SetId, thread: ThreadId) -> usize {
        if let Some((unit, of, id)) = self.threads[thread.index()].recent[slot]
            && (unit, of) == (owner.unit, set)
        {
            return id;
        }
        let open = self.of_unit.entry(owner.unit).or_default();
        let known = open.iter().copied().find(|&id| {
            self.open[id]
                .as_ref()
                .is_some_and(|unit| unit.set == set && unit.owner.kind == owner.kind)
        });
        let id = known.unwrap_or_else(|| {
            let unit = OpenUnit {
                owner,
                set,
                thread,
                at: Vec::new(),
                index: FxHashMap::default(),
                log: Vec::new(),
            };
            let id = self.free.pop().unwrap_or_else(|| {
                self.open.push(None);
                self.open.len() - 1
            });
            self.open[id] = Some(unit);
            open.push(id);
            id
        });
        self.threads[thread.index()].recent[slot] = Some((owner.unit, set, id));
        id
    }

    fn in_unit(&mut self, slot: usize, owner: Owner, input: &Input, seen: Seen) {
        let id = self.open_unit(slot, owner, input.set, seen.point.thread);
        let Some(mut unit) = self.open[id].take() else { return };
        let kinds = [
            (Kind::Read, seen.point.kind.reads()),
            (Kind::Write, seen.point.kind.writes()),
        ];
        if !self.wanted.long.is_empty() && unit.log.len() < LOG {
            unit.log
                .extend(kinds.iter().filter(|(_, does)| *does).map(|(kind, _)| (seen, *kind)));
        }
        let at = unit.at_location(&seen);
        let again = at.accesses > 0 && at.latest.same_as(&seen);
        at.repeated = if again { at.repeated + 1 } else { 0 };
        // The third of a row of equal accesses can tell nothing that the second did not.
        if at.repeated < 2 {
            let earlier = *at;
            at.update(&seen, kinds);
            if !input.conditional && earlier.accesses > 0 {
                self.tight_pairs(&earlier, &seen, kinds, owner);
            }
        }
        self.open[id] = Some(unit);
    }

    fn tight_pairs(&mut self, earlier: &AtLocation, seen: &Seen, kinds: [(Kind, bool); 2], owner: Owner) {
        for first in [Kind::Read, Kind::Write] {
            let Some(from) = earlier.last[first as usize] else {
                continue;
            };
            for (second, _) in kinds.into_iter().filter(|(_, does)| *does) {
                let Some(template) = self.wanted.same[first as usize][second as usize] else {
                    continue;
                };
                let (throughout, during) = self.between(&from, seen);
                if self.nodes.len() > NODES && !self.pays(&from, seen, throughout) {
                    self.dropped += 1;
                    continue;
                }
                let events = [from, *seen];
                self.add(
                    template,
                    Some(owner),
                    Some(owner),
                    &[seen.location],
                    &events,
                    &[throughout],
                    &[during],
                );
            }
        }
    }

    /// Whether another thread can come between two accesses to a location, or has not touched it yet.
    fn pays(&self, from: &Seen, to: &Seen, throughout: LocksetId) -> bool {
        let writes = from.point.kind.writes() || to.point.kind.writes();
        let (location, thread) = (to.location, to.point.thread);
        let lets_in = |locks| self.sets.compatible(throughout, locks);
        let keeps = |lock| self.sets.locks(throughout).iter().any(|held| held.lock == lock);
        self.exposure.is_open(location, thread, writes, keeps, lets_in) || !self.exposure.is_shared(location)
    }

    /// A unit has ended: its wide chains, pairs of locations and long chains are taken.
    pub fn unit_end(&mut self, unit: UnitId) {
        let Some(open) = self.of_unit.remove(&unit) else { return };
        for id in open {
            let Some(unit) = self.open[id].take() else { continue };
            self.free.push(id);
            let recent = &mut self.threads[unit.thread.index()].recent;
            recent
                .iter_mut()
                .filter(|slot| slot.is_some_and(|(_, _, open)| open == id))
                .for_each(|slot| *slot = None);
            if !self.is_worth_keeping(&unit) {
                self.dropped += 1;
                continue;
            }
            if self.shapes.insert(unit.shape(&self.threads[unit.thread.index()].locks)) {
                self.wide_pairs(&unit);
                self.keep_for_pairs(&unit);
                self.long_chains(&unit);
            }
        }
    }

    /// When much has been kept, units are let go in which nothing lies open so far; for a while those stay of which some
    /// location is still one thread's.
    fn is_worth_keeping(&mut self, unit: &OpenUnit) -> bool {
        if self.kept < KEPT || !self.conflicts_only {
            return true;
        }
        let throughout = self.throughout(unit);
        unit.at.iter().any(|at| {
            let writes = at.first[Kind::Write as usize].is_some();
            let lets_in = |locks| self.sets.compatible(throughout, locks);
            let keeps = |lock| self.sets.locks(throughout).iter().any(|held| held.lock == lock);
            self.exposure.is_open(at.location, unit.thread, writes, keeps, lets_in)
                || (self.kept < 4 * KEPT && !self.exposure.is_shared(at.location))
        })
    }

    /// What a unit holds from its first access to its last.
    fn throughout(&mut self, unit: &OpenUnit) -> LocksetId {
        let all = || unit.at.iter().flat_map(|at| at.first.iter().chain(&at.last)).flatten();
        let first = all().min_by_key(|seen| seen.point.index);
        let last = all().max_by_key(|seen| seen.point.index);
        match (first, last) {
            (Some(first), Some(last)) => self.between(first, last).0,
            _ => LocksetId::EMPTY,
        }
    }

    fn wide_pairs(&mut self, unit: &OpenUnit) {
        for at in unit.at.iter().filter(|at| at.accesses > 2) {
            for first in [Kind::Read, Kind::Write] {
                for second in [Kind::Read, Kind::Write] {
                    let Some(template) = self.wanted.same[first as usize][second as usize] else {
                        continue;
                    };
                    let (Some(from), Some(to)) = (at.first[first as usize], at.last[second as usize]) else {
                        continue;
                    };
                    if from.point.index < to.point.index {
                        let (throughout, during) = self.between(&from, &to);
                        let owner = Some(unit.owner);
                        self.add(
                            template,
                            owner,
                            owner,
                            &[at.location],
                            &[from, to],
                            &[throughout],
                            &[during],
                        );
                    }
                }
            }
        }
    }

    /// Keeps what pairs of locations need of a unit.
    fn keep_for_pairs(&mut self, unit: &OpenUnit) {
        if unit.at.len() < 2 || self.wanted.two.iter().flatten().all(Option::is_none) {
            return;
        }
        let throughout = self.throughout(unit);
        let ends: Vec<Ends> = unit.at.iter().map(|at| (at.location, at.first, at.last)).collect();
        self.kept += ends.len();
        self.ended.push(Ended {
            owner: unit.owner,
            thread: unit.thread,
            throughout,
            ends,
        });
    }

    /// Pairs the locations of the kept units, now that it is known which of them lie open.
    fn two_locations(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        let mut open: FxHashSet<LocationId> = FxHashSet::default();
        let mut partners: FxHashSet<LocationId> = FxHashSet::default();
        for unit in &ended {
            let all = unit.ends.iter().map(|(location, ..)| *location);
            if !self.conflicts_only {
                open.extend(all.clone());
                partners.extend(all);
                continue;
            }
            let own: SmallVec<[LocationId; 8]> = unit.open(&self.exposure, &self.sets).collect();
            if !own.is_empty() {
                open.extend(own);
                partners.extend(all);
            }
        }
        for unit in &ended {
            let concerned = unit.ends.iter().filter(|(location, ..)| partners.contains(location));
            let concerned: Vec<_> = concerned.take(PAIRED).collect();
            for a in &concerned {
                for b in &concerned {
                    if a.0 != b.0 && (open.contains(&a.0) || open.contains(&b.0)) {
                        self.pair(unit.owner, a.1, b.2);
                    }
                }
            }
        }
    }

    fn pair(&mut self, owner: Owner, firsts: [Option<Seen>; 2], lasts: [Option<Seen>; 2]) {
        for first in [Kind::Read, Kind::Write] {
            for second in [Kind::Read, Kind::Write] {
                let Some(template) = self.wanted.two[first as usize][second as usize] else {
                    continue;
                };
                let (Some(from), Some(to)) = (firsts[first as usize], lasts[second as usize]) else {
                    continue;
                };
                if from.point.index < to.point.index {
                    let (throughout, during) = self.between(&from, &to);
                    let (owner, locations) = (Some(owner), [from.location, to.location]);
                    self.add(
                        template,
                        owner,
                        owner,
                        &locations,
                        &[from, to],
                        &[throughout],
                        &[during],
                    );
                }
            }
        }
    }

    /// The locks held all along, and those held at any time, between two accesses of a thread.
    fn between(&mut self, from: &Seen, to: &Seen) -> (LocksetId, LocksetId) {
        let locks = &self.threads[from.point.thread.index()].locks;
        if from.mark == to.mark {
            return (from.held, from.held);
        }
        (
            locks.throughout(from.mark, to.mark),
            locks.during(from.mark, to.mark, &mut self.sets),
        )
    }

    fn long_chains(&mut self, unit: &OpenUnit) {
        for template in self.wanted.long.clone() {
            let shape = self.wanted.templates[template].clone();
            let mut found = Vec::new();
            long_chains(&shape, &unit.log, &mut SmallVec::new(), &mut found);
            for chain in found {
                let (mut throughout, mut during) =
                    (SmallVec::<[LocksetId; 4]>::new(), SmallVec::<[LocksetId; 4]>::new());
                for pair in chain.windows(2) {
                    let (all, some) = self.between(&pair[0], &pair[1]);
                    throughout.push(all);
                    during.push(some);
                }
                let variables = shape.iter().map(|(variable, _)| *variable).max().unwrap_or(0);
                let location = |variable: u8| {
                    let at = shape.iter().position(|(of, _)| *of == variable).unwrap_or(0);
                    chain[at].location
                };
                let locations: SmallVec<[LocationId; 4]> = (0..=variables).map(location).collect();
                let owner = Some(unit.owner);
                self.add(template, owner, owner, &locations, &chain, &throughout, &during);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a node, each used once")]
    fn add(
        &mut self,
        template: usize,
        unit: Option<Owner>,
        owner: Option<Owner>,
        locations: &[LocationId],
        events: &[Seen],
        throughout: &[LocksetId],
        during: &[LocksetId],
    ) {
        let thread = events[0].point.thread;
        let key = Key {
            template,
            owner: unit.map(|owner| owner.kind),
            thread,
            locations: SmallVec::from_slice(locations),
            held: events.iter().map(|event| event.held).collect(),
            throughout: SmallVec::from_slice(throughout),
            during: SmallVec::from_slice(during),
        };
        let several = locations.len() > 1;
        if several && self.pair_nodes >= PAIR_NODES && !self.ids.contains_key(&key) {
            self.dropped += 1;
            return;
        }
        let nodes = &mut self.nodes;
        let pair_nodes = &mut self.pair_nodes;
        let id = *self.ids.entry(key).or_insert_with_key(|key| {
            *pair_nodes += usize::from(several);
            nodes.push(Node {
                template,
                locations: key.locations.clone(),
                thread,
                held: key.held.clone(),
                throughout: key.throughout.clone(),
                during: key.during.clone(),
                open: false,
                variants: SmallVec::new(),
            });
            nodes.len() - 1
        });
        add_variant(&mut self.nodes[id].variants, owner, events);
    }

    fn mark_open(&mut self) {
        for node in &mut self.nodes {
            let writes = self.wanted.templates[node.template]
                .iter()
                .any(|(_, kind)| *kind == Kind::Write);
            let gaps = if node.throughout.is_empty() {
                &node.held[..]
            } else {
                &node.throughout[..]
            };
            node.open = node.locations.iter().any(|&location| {
                gaps.iter().any(|&kept| {
                    let lets_in = |locks| self.sets.compatible(kept, locks);
                    let keeps = |lock| self.sets.locks(kept).iter().any(|held| held.lock == lock);
                    self.exposure.is_open(location, node.thread, writes, keeps, lets_in)
                })
            });
        }
    }

    /// The nodes, the sets of locks they name, and how many units or chains were left out at a bound.
    pub fn finish(mut self) -> (Vec<Node>, Locksets, u64) {
        self.two_locations();
        self.mark_open();
        self.singles();
        (self.nodes, self.sets, self.dropped)
    }
}

fn long_chains(
    template: &[(u8, Kind)],
    log: &[(Seen, Kind)],
    chain: &mut SmallVec<[Seen; 4]>,
    found: &mut Vec<SmallVec<[Seen; 4]>>,
) {
    let Some(&(variable, kind)) = template.get(chain.len()) else {
        found.push(chain.clone());
        return;
    };
    for (at, (seen, is)) in log.iter().enumerate() {
        if found.len() >= LONG_CHAINS {
            return;
        }
        // Equal variables are equal locations, different ones different.
        let fits = chain.iter().zip(template).all(|(earlier, (of, _))| {
            (*of == variable) == (earlier.location == seen.location) && earlier.point.index < seen.point.index
        });
        if *is == kind && fits {
            chain.push(*seen);
            long_chains(template, &log[at + 1..], chain, found);
            chain.pop();
        }
    }
}

impl Ended {
    /// The locations that other threads can touch while the unit runs.
    fn open<'a>(&'a self, exposure: &'a Exposure<Single>, sets: &'a Locksets) -> impl Iterator<Item = LocationId> + 'a {
        let lies_open = |(location, firsts, _): &&'a Ends| {
            let writes = firsts[Kind::Write as usize].is_some();
            let keeps = |lock| sets.locks(self.throughout).iter().any(|held| held.lock == lock);
            exposure.is_open(*location, self.thread, writes, keeps, |locks| {
                sets.compatible(self.throughout, locks)
            })
        };
        self.ends.iter().filter(lies_open).map(|(location, ..)| *location)
    }
}

impl Seen {
    fn same_as(&self, other: &Seen) -> bool {
        (self.point.site, self.point.kind, self.clock, self.mark)
            == (other.point.site, other.point.kind, other.clock, other.mark)
    }
}

impl AtLocation {
    /// Takes an access in.
    fn update(&mut self, seen: &Seen, kinds: [(Kind, bool); 2]) {
        self.accesses += 1;
        self.latest = *seen;
        for (kind, _) in kinds.into_iter().filter(|(_, does)| *does) {
            self.first[kind as usize].get_or_insert(*seen);
            self.last[kind as usize] = Some(*seen);
        }
    }
}

impl OpenUnit {
    fn at_location(&mut self, seen: &Seen) -> &mut AtLocation {
        const LINEAR: usize = 8;
        let known = if self.at.len() <= LINEAR {
            self.at.iter().position(|at| at.location == seen.location)
        } else {
            self.index.get(&seen.location).copied()
        };
        let id = known.unwrap_or_else(|| {
            self.at.push(AtLocation {
                location: seen.location,
                first: [None; 2],
                last: [None; 2],
                latest: *seen,
                repeated: 0,
                accesses: 0,
            });
            if self.at.len() == LINEAR + 1 {
                self.index = self.at.iter().enumerate().map(|(id, at)| (at.location, id)).collect();
            } else if self.at.len() > LINEAR {
                self.index.insert(seen.location, self.at.len() - 1);
            }
            self.at.len() - 1
        });
        &mut self.at[id]
    }

    /// Equal for units whose chains are equal.
    fn shape(&self, locks: &LockHistory) -> u64 {
        let mut hasher = FxHasher::default();
        (self.owner.kind, self.thread, self.set).hash(&mut hasher);
        let mut ends: SmallVec<[&Seen; 32]> = SmallVec::new();
        for at in &self.at {
            (at.location, at.accesses > 2).hash(&mut hasher);
            for seen in at.first.iter().chain(&at.last) {
                (seen.is_some()).hash(&mut hasher);
                ends.extend(seen);
            }
        }
        ends.iter()
            .for_each(|seen| (seen.point.site, seen.held, seen.clock).hash(&mut hasher));
        // What is held from each to the next says what is held from any to any.
        if ends.iter().any(|seen| seen.mark != ends[0].mark) {
            ends.sort_unstable_by_key(|seen| seen.point.index);
            for pair in ends.windows(2).filter(|pair| pair[0].mark != pair[1].mark) {
                locks.throughout(pair[0].mark, pair[1].mark).hash(&mut hasher);
            }
        }
        for (seen, kind) in &self.log {
            (seen.location, seen.point.site, seen.held, *kind).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Takes a chain in: as a new moment of its places, as new places, or not at all if its like was the last.
fn add_variant(variants: &mut SmallVec<[Variant; 1]>, owner: Option<Owner>, events: &[Seen]) {
    let places = || events.iter().map(|event| event.point.site);
    let known = variants
        .iter()
        .position(|variant| variant.places.iter().copied().eq(places()));
    let at = known.unwrap_or_else(|| {
        if variants.len() < PLACES {
            variants.push(Variant {
                places: places().collect(),
                occurrences: Vec::new(),
            });
        }
        variants.len() - 1
    });
    let occurrences = &mut variants[at].occurrences;
    let clocks = || events.iter().map(|event| event.clock);
    let same = |last: &Occurrence| last.events.iter().map(|event| event.clock).eq(clocks());
    if occurrences.last().is_some_and(same) {
        return;
    }
    let events = events
        .iter()
        .map(|seen| Event {
            point: seen.point,
            clock: seen.clock,
        })
        .collect();
    occurrences.push(Occurrence { owner, events });
}
