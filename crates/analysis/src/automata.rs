//! The 14 problematic access patterns of AtomicSet (Figure 2) in the observed order.
//!
//! **Paper.** AtomicSet, section 3: for every pair of units on one atomic set in two threads, and every one or two
//! locations of the set, race automata follow how far each pattern has been matched; automata are made when needed,
//! from summary tuples, and dropped when both units have ended (Figure 5).
//!
//! **Departures.** What an automaton's state says of a unit and a location is whether and when the unit has read and
//! written it. So the summary tuple `(u, *, l, *)` is kept as four events (first and last read, first and last write), and
//! the state of every automaton on `(u, u', l, *)` is read off two of them: a pattern `a b' c` ends at `c` if the first `a` of
//! `u` came before the last `b` of `u'`. The nine patterns on two locations are exactly a conflict from `u` to `u'` on
//! one and from `u'` to `u` on the other; the conflicts of a pair of units are kept, not tuples per pair of
//! locations. For each two conflicts the pattern of the first events that make it is reported, with its number in Figure 2;
//! mixed ones (`W W' R' W`), which the figure leaves out because a unit that reads what it writes shows another
//! as well, are reported without number. Thereby a match exists exactly if the projection on the set is not conflict
//! serializable for the two units. An access outside any unit is a unit of its own.
//!
//! Two layers run side by side: certain units (declared, sections) and, if the trace has activations, all kinds. On
//! volatile and modelled locations a second read at the same site is taken as a loop that begins again, and a conditional
//! update as proof that nothing came between: compare-and-set loops and stop flags match nothing.
//!
//! **Promise.** What is reported is in the trace (`witnessed`): no false alarm as to the pattern; whether it harms is
//! replay's to say. Complete for two units, but for units that end while an older one of another thread stays open:
//! of those, per location and thread, the last [`KEPT`] are remembered; and for more than [`CONFLICTS`] conflicts of one
//! pair.
//!
//! **Work saved.** None of it changes what is found:
//! - A unit that has ended does nothing more. Two conflicts of a pattern on two locations go in opposite directions, so one of
//!   which the earlier unit has ended needs no place among those kept: it can only complete one that is there. If the later unit
//!   began after that end there is none, and no pattern on one location either.
//! - A unit that comes back to a location at the same site in the same way meets again only the units that did something there since:
//!   what it would match with another one it has matched there before, with the same sites.
//! - Which remembered units no open one overlaps changes only when the oldest open unit does.
//!
//! **Cost.** Per access the number of units that have touched the location and that an open unit overlaps, at most `KEPT` per
//! thread, a look at 40 bytes each; space the same per location.

mod shapes;

use crate::engine::{Access, Analysis, Context, Needs, View, left_out};
use crate::finding::{Evidence, Rule};
use crate::raw::{Point, RawReport, RawStep, StepKind};
use crate::sets::{Guard, SetId};
use crate::units::{Owner, UnitId};
use ravel_trace::{LocationId, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
pub use shapes::{DOUBLE, SINGLE};
use shapes::{R, W, mixed};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Units of one thread remembered per location.
pub const KEPT: usize = 4;

/// Conflicts remembered per pair of units.
pub const CONFLICTS: usize = 32;

/// What one unit has done to one location.
#[derive(Clone, Debug)]
struct Summary {
    owner: Option<Owner>,
    reads: Ends,
    writes: Ends,
    /// Where and how it came here last.
    latest: (SiteId, StepKind),
    /// The different accesses that the ends are, in no order: mostly but one.
    points: SmallVec<[Point; 1]>,
}

/// What is looked at of a unit whenever anyone comes to the location.
#[derive(Clone, Copy, Debug)]
struct Head {
    unit: Option<UnitId>,
    thread: ThreadId,
    writes: bool,
    /// Number of the last event.
    latest: u64,
    /// Number of the event that ended it, once that is known.
    end: u64,
}

impl Head {
    /// Whether an access of another thread conflicts with any of the unit's.
    #[inline]
    fn conflicts(&self, access: &Access) -> bool {
        self.thread != access.thread() && (access.writes() || self.writes)
    }

    /// Whether the unit ends by some event, as far as the tables know.
    #[inline]
    fn ends(&mut self, view: &View) -> Option<u64> {
        if self.end == u64::MAX {
            self.end = self.unit.and_then(|unit| view.units.end(unit)).unwrap_or(u64::MAX);
        }
        (self.end != u64::MAX).then_some(self.end)
    }

    /// Whether an open unit may overlap it; the oldest open unit began at the horizon.
    fn is_live(&mut self, view: &View, horizon: u64) -> bool {
        // No unit ends before its last access, and the table of units is far away.
        self.latest > horizon || (self.unit.is_some() && self.ends(view).is_none_or(|end| end > horizon))
    }
}

/// The units remembered of one location.
#[derive(Debug, Default)]
struct RememberedUnits {
    heads: Vec<Head>,
    /// In step with the heads.
    summaries: Vec<Summary>,
    /// The horizon beyond which none of them lies.
    horizon: u64,
}

impl RememberedUnits {
    /// Forgets the units of others that no open one overlaps.
    fn forget_dead(&mut self, view: &View, me: Option<UnitId>, horizon: u64) {
        if self.horizon == horizon {
            return;
        }
        self.horizon = horizon;
        let mut i = 0;
        while i < self.heads.len() {
            let mine = me.is_some() && self.heads[i].unit == me;
            if mine || self.heads[i].is_live(view, horizon) {
                i += 1;
            } else {
                self.heads.remove(i);
                self.summaries.remove(i);
            }
        }
    }

    /// Makes room for a unit of a thread that has too many.
    fn forget_oldest(&mut self, thread: ThreadId) -> bool {
        let own = || (0..).zip(&self.heads).filter(|(_, head)| head.thread == thread);
        if own().count() < KEPT {
            return false;
        }
        let oldest: Option<usize> = own().min_by_key(|(_, head)| head.latest).map(|(i, _)| i);
        if let Some(i) = oldest {
            self.heads.remove(i);
            self.summaries.remove(i);
        }
        oldest.is_some()
    }
}

/// The first and the last access of one kind, as places in [`Summary::points`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ends {
    first: u8,
    last: u8,
}

impl Ends {
    const NONE: Ends = Ends {
        first: u8::MAX,
        last: u8::MAX,
    };

    fn has(self, at: u8) -> bool {
        self.first == at || self.last == at
    }
}

impl Summary {
    fn new(owner: Option<Owner>) -> Self {
        Summary {
            owner,
            reads: Ends::NONE,
            writes: Ends::NONE,
            latest: (SiteId(0), StepKind::Read),
            points: SmallVec::new(),
        }
    }

    fn note(&mut self, access: &Access) {
        let (mut reads, mut writes) = (self.reads, self.writes);
        if access.reads() {
            reads.last = u8::MAX;
        }
        if access.writes() {
            writes.last = u8::MAX;
        }
        // A point that is no end any more makes room; there are at most four.
        let mut places = (0u8..).zip(&self.points).map(|(at, _)| at);
        let free = places.find(|&at| !reads.has(at) && !writes.has(at));
        let at = match free {
            Some(at) => {
                self.points[usize::from(at)] = access.point;
                at
            }
            None => {
                self.points.push(access.point);
                (self.points.len() - 1) as u8
            }
        };
        for (ends, does) in [(&mut reads, access.reads()), (&mut writes, access.writes())] {
            if does {
                ends.last = at;
                if ends.first == u8::MAX {
                    ends.first = at;
                }
            }
        }
        (self.reads, self.writes) = (reads, writes);
        self.latest = (access.point.site, access.point.kind);
    }

    fn point(&self, at: u8) -> Option<Point> {
        self.points.get(usize::from(at)).copied()
    }

    fn first(&self, writes: bool) -> Option<Point> {
        self.point(if writes { self.writes.first } else { self.reads.first })
    }

    fn last(&self, writes: bool) -> Option<Point> {
        self.point(if writes { self.writes.last } else { self.reads.last })
    }
}

/// Two conflicting accesses of two units, in this order.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    location: LocationId,
    first: Point,
    second: Point,
    first_writes: bool,
    second_writes: bool,
    first_unit: UnitId,
}

#[derive(Debug, Default)]
struct Layer {
    places: Vec<RememberedUnits>,
    pairs: FxHashMap<(UnitId, UnitId, SetId), Vec<Conflict>>,
    /// Keys of `pairs` by unit, to drop them.
    partners: FxHashMap<UnitId, Vec<(UnitId, UnitId, SetId)>>,
    /// First access of every open unit.
    open: BTreeSet<(u64, UnitId)>,
    firsts: FxHashMap<UnitId, u64>,
    /// The unit of each thread that came last, and its first access.
    recent: Vec<Option<(UnitId, u64)>>,
    forgotten: u64,
    conflicts_left_out: u64,
}

/// The analysis.
#[derive(Debug, Default)]
pub struct Automata {
    certain: Layer,
    any: Layer,
    found: Found,
}

#[derive(Debug, Default)]
struct Found {
    keys: FxHashSet<(&'static str, [SiteId; 4], [LocationId; 2], bool)>,
    reports: Vec<RawReport>,
}

impl Layer {
    fn access(&mut self, view: &View, access: &Access, owner: Option<Owner>, found: &mut Found) {
        let index = access.location.index();
        if self.places.len() <= index {
            self.places.resize_with(index + 1, RememberedUnits::default);
        }
        let first = owner.map_or(u64::MAX, |owner| {
            self.opened(owner.unit, access.thread(), access.point.index)
        });
        let horizon = self.open.first().map_or(u64::MAX, |o| o.0);
        let mut place = std::mem::take(&mut self.places[index]);
        let me = owner.map(|o| o.unit);
        let find = |place: &RememberedUnits| me.and_then(|_| place.heads.iter().position(|head| head.unit == me));
        let mut mine = find(&place);
        let mut conflicts = place.heads.iter().any(|head| head.conflicts(access));
        // What no open unit overlaps matches nothing; it is looked for only where it would cost or could be taken for more.
        if mine.is_none() || conflicts {
            let known = place.heads.len();
            place.forget_dead(view, me, horizon);
            if place.heads.len() < known {
                mine = find(&place);
                conflicts = place.heads.iter().any(|head| head.conflicts(access));
            }
        }
        if let Some(i) = mine
            && access.is_synchronization()
        {
            restart(access, &mut place.summaries[i]);
        }
        if conflicts {
            self.match_all(view, access, (owner, first), &mut place, mine, found);
        }
        // Without any open unit, nothing can enclose this access.
        if mine.is_none() && (me.is_some() || horizon != u64::MAX) {
            self.forgotten += u64::from(place.forget_oldest(access.thread()));
            mine = Some(place.heads.len());
            if place.heads.capacity() == 0 {
                // Most locations are one thread's.
                place.heads.reserve_exact(1);
                place.summaries.reserve_exact(1);
            }
            place.heads.push(Head {
                unit: me,
                thread: access.thread(),
                writes: false,
                latest: 0,
                end: u64::MAX,
            });
            place.summaries.push(Summary::new(owner));
        }
        if let Some(i) = mine {
            place.summaries[i].note(access);
            place.heads[i].latest = access.point.index;
            place.heads[i].writes |= access.writes();
        }
        self.places[index] = place;
    }

    /// The first access of a unit, which is open.
    fn opened(&mut self, unit: UnitId, thread: ThreadId, index: u64) -> u64 {
        if self.recent.len() <= thread.index() {
            self.recent.resize(thread.index() + 1, None);
        }
        if let Some((_, first)) = self.recent[thread.index()].filter(|(recent, _)| *recent == unit) {
            return first;
        }
        let open = &mut self.open;
        let first = *self.firsts.entry(unit).or_insert_with(|| {
            open.insert((index, unit));
            index
        });
        self.recent[thread.index()] = Some((unit, first));
        first
    }

    /// Matches an access of a unit that began at `first` with what others did.
    fn match_all(
        &mut self,
        view: &View,
        access: &Access,
        (owner, first): (Option<Owner>, u64),
        place: &mut RememberedUnits,
        mine: Option<usize>,
        found: &mut Found,
    ) {
        let Some(owner) = owner else { return };
        let now = access.point.index;
        // What was here when the unit did the same is known.
        let here = (access.point.site, access.point.kind);
        let again = mine.filter(|&i| place.summaries[i].latest == here && place.summaries[i].owner == Some(owner));
        let since = again.map_or(0, |i| place.heads[i].latest);
        for at in 0..place.heads.len() {
            let head = &mut place.heads[at];
            if head.thread == access.thread() || head.latest < since {
                continue;
            }
            let ended = head.ends(view).filter(|end| *end <= now);
            if ended.is_some_and(|end| end < first) {
                continue;
            }
            let other = &place.summaries[at];
            if let Some(i) = mine {
                single(access, owner, &place.summaries[i], other, found);
            }
            if let Some(theirs) = other.owner {
                self.conflicts(access, owner, other, (theirs, ended.is_some()), found);
            }
        }
    }

    fn conflicts(&mut self, access: &Access, owner: Owner, other: &Summary, theirs: (Owner, bool), found: &mut Found) {
        let conflict = |first: Point, first_writes, second_writes| Conflict {
            location: access.location,
            first,
            second: access.point,
            first_writes,
            second_writes,
            first_unit: theirs.0.unit,
        };
        let (read, write) = (other.last(R), other.last(W));
        let reads_of_theirs = read.filter(|_| access.writes()).map(|p| conflict(p, R, W));
        let writes_overwritten = write.filter(|_| access.writes()).map(|p| conflict(p, W, W));
        let writes_read = write.filter(|_| access.reads()).map(|p| conflict(p, W, R));
        for new in [reads_of_theirs, writes_overwritten, writes_read].into_iter().flatten() {
            self.conflict(access.cell.set, owner, theirs, new, found);
        }
    }

    /// Takes a conflict in; its earlier unit may have ended.
    fn conflict(&mut self, set: SetId, owner: Owner, theirs: (Owner, bool), new: Conflict, found: &mut Found) {
        let (theirs, ended) = theirs;
        let key = (owner.unit.min(theirs.unit), owner.unit.max(theirs.unit), set);
        if ended && !self.pairs.contains_key(&key) {
            return;
        }
        let known = self.pairs.entry(key).or_insert_with(|| {
            // Whichever of the two is still open drops the pair when it ends.
            for unit in [key.0, key.1] {
                if self.firsts.contains_key(&unit) {
                    self.partners.entry(unit).or_default().push(key);
                }
            }
            Vec::new()
        });
        let same = |c: &Conflict| {
            c.location == new.location
                && c.first_unit == new.first_unit
                && c.first_writes == new.first_writes
                && c.second_writes == new.second_writes
        };
        if known.iter().any(same) {
            return;
        }
        for old in known
            .iter()
            .filter(|c| c.first_unit != new.first_unit && c.location != new.location)
        {
            double(old, &new, owner, theirs, found);
        }
        if known.len() < CONFLICTS {
            known.push(new);
        } else if !ended {
            self.conflicts_left_out += 1;
        }
    }

    fn unit_end(&mut self, view: &View, unit: UnitId, index: u64) {
        let Some(first) = self.firsts.remove(&unit) else { return };
        self.open.remove(&(first, unit));
        let ended = |u: UnitId| view.units.end(u).is_some_and(|end| end <= index);
        for key in self.partners.remove(&unit).unwrap_or_default() {
            let other = if key.0 == unit { key.1 } else { key.0 };
            if ended(other) {
                self.pairs.remove(&key);
            }
        }
    }
}

/// A loop on a volatile or modelled location begins again, or a conditional update proves that nothing came between.
fn restart(access: &Access, mine: &mut Summary) {
    let again = access.point.kind == StepKind::Read
        && access.point.site != SiteId(0)
        && mine.last(R).is_some_and(|p| p.site == access.point.site);
    let proven = access.cell.guard != Guard::None;
    if again || proven {
        mine.reads = Ends::NONE;
    }
}

fn single(access: &Access, owner: Owner, mine: &Summary, other: &Summary, found: &mut Found) {
    for (kinds, name) in &SINGLE {
        let (first, middle) = (mine.first(kinds[0]), other.last(kinds[1]));
        let ends = if kinds[2] { access.writes() } else { access.reads() };
        let (Some(first), Some(middle)) = (first, middle) else {
            continue;
        };
        if !ends || first.index >= middle.index || access.cell.lock_state && kinds[0] == W {
            continue;
        }
        let step = |point, owner| RawStep {
            point,
            location: Some(access.location),
            lock: None,
            owner,
        };
        let steps = vec![
            step(first, Some(owner)),
            step(middle, other.owner),
            step(access.point, Some(owner)),
        ];
        found.report(Rule::Atomicity, name, steps);
    }
}

fn double(a: &Conflict, b: &Conflict, owner: Owner, theirs: Owner, found: &mut Found) {
    let owner_of = |unit: UnitId| if unit == owner.unit { owner } else { theirs };
    let second_of = |c: &Conflict| if c.first_unit == owner.unit { theirs } else { owner };
    let mut events = [
        (a.first, a.location, owner_of(a.first_unit), a.first_writes),
        (a.second, a.location, second_of(a), a.second_writes),
        (b.first, b.location, owner_of(b.first_unit), b.first_writes),
        (b.second, b.location, second_of(b), b.second_writes),
    ];
    events.sort_by_key(|e| e.0.index);
    let (unit, place) = (events[0].2.unit, events[0].1);
    let shape = events.map(|e| (e.2.unit != unit, e.1 != place, e.3));
    let name = DOUBLE
        .iter()
        .find(|d| d.1 == shape)
        .map_or_else(|| mixed(&shape), |d| d.0);
    let step = |e: &(Point, LocationId, Owner, bool)| RawStep {
        point: e.0,
        location: Some(e.1),
        lock: None,
        owner: Some(e.2),
    };
    found.report(Rule::AtomicSet, name, events.iter().map(step).collect());
}

impl Found {
    fn report(&mut self, rule: Rule, name: &'static str, steps: Vec<RawStep>) {
        let mut sites = [SiteId(0); 4];
        for (slot, step) in sites.iter_mut().zip(&steps) {
            *slot = step.point.site;
        }
        // Imported traces may have no sites: then the locations tell matches apart.
        let mut locations = [LocationId(u32::MAX); 2];
        if steps.iter().any(|s| s.point.site == SiteId(0)) {
            let mut all: Vec<_> = steps.iter().filter_map(|s| s.location).collect();
            all.dedup();
            for (slot, location) in locations.iter_mut().zip(all) {
                *slot = location;
            }
        }
        let certain = steps
            .iter()
            .all(|s| s.owner.is_none_or(|o| crate::merge::is_certain(o.kind)));
        if !self.keys.insert((name, sites, locations, certain)) {
            return;
        }
        self.reports.push(RawReport {
            analysis: "automata",
            rule,
            evidence: Evidence::Witnessed,
            pattern: name.to_owned(),
            steps,
            observed: true,
        });
    }
}

impl Analysis for Automata {
    fn name(&self) -> &'static str {
        "automata"
    }

    fn needs(&self) -> Needs {
        Needs {
            units: true,
            ..Needs::default()
        }
    }

    fn access(&mut self, view: &View, access: &Access) {
        if access.cell.exempt {
            return;
        }
        self.certain
            .access(view, access, access.owners.certain, &mut self.found);
        if view.assumed_possible() {
            self.any.access(view, access, access.owners.any, &mut self.found);
        }
    }

    fn unit_end(&mut self, view: &View, unit: UnitId, index: u64) {
        self.certain.unit_end(view, unit, index);
        self.any.unit_end(view, unit, index);
    }

    fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
        std::mem::take(&mut self.found.reports)
    }

    fn left_out(&self) -> Vec<String> {
        let forgotten = self.certain.forgotten + self.any.forgotten;
        let conflicts = self.certain.conflicts_left_out + self.any.conflicts_left_out;
        let units = format!("units of threads that ended more than {KEPT} at a variable while another unit was open");
        let of_pairs = format!("conflicts of pairs of units that have more than {CONFLICTS}");
        left_out(
            "automata",
            [(forgotten, units.as_str()), (conflicts, of_pairs.as_str())],
        )
    }
}

#[cfg(test)]
mod tests;
