//! Sets of three and more units of a trace, by the [general algorithm](super::general).
//!
//! Pairs are not enough: three units may form a circle although any two of them are atomic (example 16 of the paper). To ask that of
//! all units of a trace at once is out of reach, so they are partitioned by the variables that they share, and what is
//! asked is
//! - of a part of at most [`WHOLE`] units: all of them together;
//! - of a larger part: every three units of three threads in which any two share a variable that one of them writes, and
//!   not all the same one.
//!
//! A set is left to the pairs if two of its units already clash. Of equal code (the same places of the same units) one set is looked at, the first
//! by the numbers of its units.
//!
//! **Equal units.** Of units of one thread with the same code that share the same variables in the same ways, the first stands for all when threes are
//! looked for. Nothing is lost: whether three units make a set depends on their threads and on what they share, and which sets
//! are equal on their code. So if three units make a set, the three that stand for them make one of equal code, whose
//! numbers are no larger; the first set of each code has only units that stand for themselves.
//!
//! **Bounds**, each a possible miss and counted: [`SETS`] sets, [`LOOKS`] units looked at for them, [`STRIDES`] strides of each, [`LONGEST`] steps of a unit; circles of
//! four and more units in parts larger than [`WHOLE`].

use ravel_trace::{LocationId, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::general::{self, SetVerdict, StepRef};
use super::units::Open;
use crate::engine::Context;
use crate::finding::{Evidence, Rule};
use crate::order::{ClockId, Moment};
use crate::raw::{Point, RawReport, RawStep};
use crate::transaction::{Action, Transaction};

/// Parts of at most so many units are looked at as a whole.
pub const WHOLE: usize = 5;
/// How many sets are looked at.
pub const SETS: usize = 2_000;
/// Units of more steps that matter are in no set: those have more interleavings than can be tried.
pub const LONGEST: usize = 48;
/// How many times a third unit is looked for among those near two others.
pub const LOOKS: usize = 20_000_000;
/// How many strides of one set are tried.
pub const STRIDES: usize = 5_000;

/// What came out.
#[derive(Default)]
pub struct Found {
    /// The sets that are not atomic though their pairs are.
    pub reports: Vec<RawReport>,
    /// Sets for which it is not known.
    pub unknown: u64,
    /// Sets not looked at.
    pub skipped: u64,
}

/// Looks at the sets of units that share variables.
pub fn check(cx: &Context<'_>, units: &[Open]) -> Found {
    let shared = Shared::new(units);
    let codes = codes(units);
    let mut search = UnitSetSearch {
        cx,
        units,
        shared: &shared,
        code: &codes,
        tried: 0,
        looks: 0,
        looked_at: FxHashSet::default(),
        clashes: FxHashMap::default(),
        found: Found::default(),
    };
    for part in shared.parts(units) {
        if cx.stop.now() {
            break;
        }
        if part.len() <= WHOLE {
            search.set(&part);
        } else {
            search.triples(&part);
        }
    }
    search.found
}

/// For each unit the number of its code: equal for units whose accesses that matter are at the same places, as often.
fn codes(units: &[Open]) -> Vec<u32> {
    let mut known: FxHashMap<Vec<SiteId>, u32> = FxHashMap::default();
    let code = |unit: &Open| {
        let mut places: Vec<SiteId> = unit.events.iter().flatten().map(|(point, _)| point.site).collect();
        places.sort_unstable();
        let next = known.len() as u32;
        *known.entry(places).or_insert(next)
    };
    units.iter().map(code).collect()
}

/// Which units touch which locations that several threads access and one writes.
struct Shared {
    /// For each unit, its shared locations and whether it writes them, by location.
    of: Vec<Vec<(LocationId, bool)>>,
}

impl Shared {
    fn new(units: &[Open]) -> Self {
        let mut seen: FxHashMap<LocationId, (u32, bool, bool)> = FxHashMap::default();
        for unit in units {
            for (location, writes) in unit.accesses() {
                let entry = seen
                    .entry(location)
                    .or_insert((unit.transaction.thread.0, false, false));
                entry.1 |= entry.0 != unit.transaction.thread.0;
                entry.2 |= writes;
            }
        }
        let own = |unit: &Open| {
            let mut all: Vec<(LocationId, bool)> = unit
                .accesses()
                .filter(|(location, _)| seen.get(location).is_some_and(|at| at.1 && at.2))
                .collect();
            // Of one location the write comes first, and is what is kept.
            all.sort_unstable_by_key(|(location, writes)| (*location, !writes));
            all.dedup_by_key(|(location, _)| *location);
            all
        };
        Shared {
            of: units.iter().map(own).collect(),
        }
    }

    /// The units in parts that share no variable, those of one thread left out.
    fn parts(&self, units: &[Open]) -> Vec<Vec<usize>> {
        let mut parent: Vec<usize> = (0..units.len()).collect();
        fn root(parent: &mut [usize], mut at: usize) -> usize {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        }
        let mut user: FxHashMap<LocationId, usize> = FxHashMap::default();
        for (unit, locations) in self.of.iter().enumerate() {
            for (location, _) in locations {
                let other = *user.entry(*location).or_insert(unit);
                let (a, b) = (root(&mut parent, unit), root(&mut parent, other));
                parent[a.max(b)] = a.min(b);
            }
        }
        let mut parts: std::collections::BTreeMap<usize, Vec<usize>> = Default::default();
        for unit in (0..units.len()).filter(|&unit| !self.of[unit].is_empty()) {
            parts.entry(root(&mut parent, unit)).or_default().push(unit);
        }
        let mut parts: Vec<Vec<usize>> = parts.into_values().collect();
        let threads = |part: &[usize]| {
            let mut threads: Vec<_> = part.iter().map(|&unit| units[unit].transaction.thread).collect();
            threads.sort_unstable();
            threads.dedup();
            threads.len()
        };
        parts.retain(|part| part.len() > 2 && threads(part) > 1);
        parts
    }

    /// The first variables that two units share and one of them writes.
    fn between(&self, a: usize, b: usize) -> SmallVec<[LocationId; 4]> {
        let (mut mine, mut theirs) = (self.of[a].iter().peekable(), self.of[b].iter().peekable());
        let mut common = SmallVec::new();
        while let (Some(x), Some(y)) = (mine.peek(), theirs.peek()) {
            match x.0.cmp(&y.0) {
                std::cmp::Ordering::Less => drop(mine.next()),
                std::cmp::Ordering::Greater => drop(theirs.next()),
                std::cmp::Ordering::Equal => {
                    if (x.1 || y.1) && common.len() < 4 {
                        common.push(x.0);
                    }
                    mine.next();
                    theirs.next();
                }
            }
        }
        common
    }
}

/// The codes of the units of a set, in order.
type Codes = SmallVec<[u32; WHOLE]>;

struct UnitSetSearch<'a> {
    cx: &'a Context<'a>,
    units: &'a [Open],
    shared: &'a Shared,
    /// The code of each unit.
    code: &'a [u32],
    tried: usize,
    looks: usize,
    /// The codes of the sets that were looked at, in order.
    looked_at: FxHashSet<Codes>,
    /// What is known of pairs of units.
    clashes: FxHashMap<(usize, usize), bool>,
    found: Found,
}

impl UnitSetSearch<'_> {
    /// Of equal units the first.
    fn different(&self, part: &[usize]) -> Vec<usize> {
        let mut known = FxHashSet::default();
        let key = |unit: usize| {
            let thread = self.units[unit].transaction.thread;
            (thread, self.code[unit], &self.shared.of[unit][..])
        };
        part.iter().copied().filter(|&unit| known.insert(key(unit))).collect()
    }

    fn codes_of(&self, set: &[usize]) -> Codes {
        let mut codes: Codes = set.iter().map(|&unit| self.code[unit]).collect();
        codes.sort_unstable();
        codes
    }

    /// Every three units of a part that may form a circle, one for each three pieces of code.
    fn triples(&mut self, part: &[usize]) {
        let part = self.different(part);
        let mut users: FxHashMap<LocationId, Vec<usize>> = FxHashMap::default();
        for &unit in &part {
            for (location, _) in &self.shared.of[unit] {
                users.entry(*location).or_default().push(unit);
            }
        }
        let thread = |unit: usize| self.units[unit].transaction.thread;
        let neighbours = |unit: usize| {
            let mut near: Vec<usize> = self.shared.of[unit]
                .iter()
                .flat_map(|(location, _)| users[location].iter().copied())
                .filter(|&other| other > unit && thread(other) != thread(unit))
                .collect();
            near.sort_unstable();
            near.dedup();
            near
        };
        for &a in &part {
            if self.cx.stop.now() {
                return;
            }
            // What a unit shares with the others; only those count with which it shares something that one of them writes.
            let shares = |other: usize| {
                let common = self.shared.between(a, other);
                (!common.is_empty()).then_some((other, common))
            };
            let near: Vec<(usize, SmallVec<[LocationId; 4]>)> = neighbours(a).into_iter().filter_map(shares).collect();
            for (at, (b, first)) in near.iter().enumerate() {
                self.looks += near.len() - at;
                if self.looks > LOOKS {
                    self.found.skipped += 1;
                    return;
                }
                for (c, third) in near[at + 1..].iter().filter(|(c, _)| thread(*c) != thread(*b)) {
                    if self.tried >= SETS {
                        self.found.skipped += 1;
                        return;
                    }
                    let set = [a, *b, *c];
                    if self.looked_at.contains(&self.codes_of(&set)) {
                        continue;
                    }
                    let second = self.shared.between(*b, *c);
                    // Three units on one variable only need no more than pairs (Theorem 5.3).
                    let one = first.len() == 1 && second == *first && third == first;
                    if !second.is_empty() && !one {
                        self.set(&set);
                    }
                }
            }
        }
    }

    fn set(&mut self, set: &[usize]) {
        if !self.looked_at.insert(self.codes_of(set)) {
            return;
        }
        if self.tried >= SETS {
            self.found.skipped += 1;
            return;
        }
        self.tried += 1;
        if self.cx.stop.now() {
            return;
        }
        let mut set = set.to_vec();
        // Units of one thread in program order.
        set.sort_unstable_by_key(|&unit| self.first(unit).map(|(point, _)| point.index));
        let transactions: Vec<Transaction> = set.iter().map(|&unit| self.concerned(unit)).collect();
        let steps: Vec<Vec<usize>> = set.iter().map(|&unit| self.steps(unit)).collect();
        if steps.iter().any(|steps| steps.len() > LONGEST) {
            self.found.unknown += 1;
            return;
        }
        let mut known = std::mem::take(&mut self.clashes);
        let before = |a: StepRef, b: StepRef| {
            let real = |(unit, step): StepRef| (set[unit], steps[unit].get(step).copied().unwrap_or(0));
            self.before(real(a), real(b))
        };
        let mut clashes = |a: usize, b: usize| {
            let pair = (set[a].min(set[b]), set[a].max(set[b]));
            let ask = || !general::check_pair(&transactions, a, b, &before).is_empty();
            *known.entry(pair).or_insert_with(ask)
        };
        let clash = (0..set.len()).any(|a| (a + 1..set.len()).any(|b| clashes(a, b)));
        let verdict = match clash {
            true => SetVerdict::Atomic,
            false => general::check_beyond_pairs(&transactions, &before, STRIDES),
        };
        self.clashes = known;
        match verdict {
            SetVerdict::Atomic => {}
            SetVerdict::Unknown => self.found.unknown += 1,
            SetVerdict::Violation { steps: order, .. } => {
                let step = |&(unit, step): &StepRef| {
                    let real = steps[unit].get(step).copied()?;
                    let open = &self.units[set[unit]];
                    let (point, _) = open.events.get(real).copied().flatten()?;
                    let location = match open.transaction.steps[real].action {
                        Action::Read(location) | Action::Write(location) => Some(location),
                        _ => None,
                    };
                    Some(RawStep {
                        point,
                        location,
                        lock: None,
                        owner: Some(open.owner),
                    })
                };
                self.found.reports.push(RawReport {
                    analysis: "blocks",
                    rule: Rule::Unserializable,
                    evidence: Evidence::Predicted,
                    pattern: String::new(),
                    steps: order.iter().filter_map(step).collect(),
                    observed: false,
                });
            }
        }
    }

    /// The steps of a unit that matter: locks, and accesses to shared variables.
    fn steps(&self, unit: usize) -> Vec<usize> {
        let shared = &self.shared.of[unit];
        let matters = |action: Action| match action {
            Action::Read(at) | Action::Write(at) => shared.binary_search_by_key(&at, |(location, _)| *location).is_ok(),
            _ => true,
        };
        let steps = self.units[unit].transaction.steps.iter().enumerate();
        steps
            .filter(|(_, step)| matters(step.action))
            .map(|(at, _)| at)
            .collect()
    }

    fn concerned(&self, unit: usize) -> Transaction {
        let whole = &self.units[unit].transaction;
        Transaction {
            thread: whole.thread,
            steps: self.steps(unit).into_iter().map(|at| whole.steps[at]).collect(),
            entry: whole.entry.clone(),
        }
    }

    fn first(&self, unit: usize) -> Option<(Point, ClockId)> {
        self.units[unit].events.iter().flatten().next().copied()
    }

    /// Whether one step must come before another. A lock step stands where the nearest access of its unit does, on the side
    /// that orders less.
    fn before(&self, a: (usize, usize), b: (usize, usize)) -> bool {
        if a.0 == b.0 {
            return a.1 < b.1;
        }
        let (x, y) = (&self.units[a.0], &self.units[b.0]);
        if x.transaction.thread == y.transaction.thread {
            return self.first(a.0).map(|(p, _)| p.index) < self.first(b.0).map(|(p, _)| p.index);
        }
        let from = x.events[a.1.min(x.events.len())..].iter().flatten().next();
        let to = y.events[..(b.1 + 1).min(y.events.len())].iter().rev().flatten().next();
        let (Some(&(first, at)), Some(&(_, then))) = (from, to) else {
            return false;
        };
        let order = &self.cx.state.order;
        // Edges that the units' own volatile or modelled locations make do not count; leaving out all such is quick.
        order.past(then).bare.knows(Moment {
            thread: first.thread,
            time: order.past(at).hard.get(first.thread),
        })
    }
}
