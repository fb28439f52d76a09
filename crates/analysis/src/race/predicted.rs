//! Races of other runs: Pecan's hybrid model (sections 3 to 5), no common lock and no hard order.
//!
//! **Paper.** A pair of conflicting accesses of two threads may be brought side by side if they hold no common lock and
//! neither comes before the other by fork/join, wait/notify and the like. Algorithm 1 prints `≠ ∅` for the common
//! locks where section 4.2 means `= ∅`.
//!
//! **Departures.** One pass, no graph. Of the accesses of one thread at one site, of one kind, under one set of locks, only
//! the latest is kept: a later access of another thread that is unordered with an earlier one is unordered with it as
//! well. Nor is one kept under more locks beside one under fewer. Nothing is compared while one lock is held alone at all accesses of
//! a location. A pair of sites is reported once. A race on a primitive field
//! is left out if every writer finds it zero and writes the same value, and only these methods read it: the caching of a hash code, as in
//! `String`.
//!
//! **Promise.** Finds every pair of sites that the hybrid model calls independent, as long as a location has at most
//! [`LIMIT`] kinds of access. Beyond that sites of the same thread, kind and locks push each other out, but not the fact that such an
//! access was made ([`crowd`]): every two threads that race on the location in some way are still reported at some pair of
//! sites, up to [`crowd::VARIANTS`] sets of locks of one thread. May report pairs that no run has: locks or values may keep
//! them apart (Pecan's Figure 5); schedule check and replay decide.
//!
//! **Cost.** Per access the kinds of access of its location, at most `LIMIT` short comparisons, and one beyond them; a full check only for
//! a new kind of access and after an edge of the hard order. Hence linear, however hot a variable is.

mod crowd;

use crate::engine::{Access, Analysis, Context, Needs, View, left_out};
use crate::finding::{Evidence, Rule};
use crate::locks::{LockTable, LocksetId};
use crate::order::Moment;
use crate::raw::{Point, RawReport, StepKind};
use crate::stacks::StackId;
use crowd::Crowd;
use ravel_trace::names::Location;
use ravel_trace::{LocationId, LockId, Mode, SiteId, ThreadId, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{ReportedPairs, race_step};

/// Kinds of access remembered per location.
pub const LIMIT: usize = 64;

/// One kind of access: what is looked at every time, apart from the [`Point`] that only a report needs.
#[derive(Clone, Copy, Debug)]
struct RememberedAccess {
    /// Site, thread and kind, packed.
    key: u64,
    locks: LocksetId,
    time: u32,
}

impl RememberedAccess {
    /// No access: one of the moment 0, which everybody knows.
    const NOBODY: RememberedAccess = RememberedAccess {
        key: crowd::NOBODY,
        locks: LocksetId::EMPTY,
        time: 0,
    };
}

/// Whether all writes of a location are of the same value, after a look at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writes {
    None,
    Same(Value, u32),
    Differ,
}

#[derive(Debug)]
struct LocationHistory {
    /// Where the entry of a key was last found, by the key's hash.
    hints: [u8; 16],
    entries: SmallVec<[RememberedAccess; 4]>,
    /// A bit for each hash of a key among the entries: most new kinds of access are known for new by it.
    keys: [u64; 4],
    /// In step with the entries.
    points: Vec<Point>,
    /// What is known of all accesses, once there are too many.
    crowd: Option<Box<Crowd>>,
    /// The locks that all accesses hold alone; none before the first.
    guard: Option<SmallVec<[LockId; 2]>>,
    /// The locks that were looked at for it last.
    guard_of: LocksetId,
    writes: Writes,
    /// Who read a zero last, in which activation and where, by thread.
    found_zero: SmallVec<[(ThreadId, StackId, SiteId); 2]>,
    /// Where a zero was read before a write.
    looks: SmallVec<[SiteId; 2]>,
    /// Where it was read; none if in too many places.
    reads: Option<SmallVec<[SiteId; 4]>>,
    /// Kinds of access that had to make room.
    forgotten: u64,
}

/// The analysis.
#[derive(Debug, Default)]
pub struct Predicted {
    places: Vec<Option<Box<LocationHistory>>>,
    /// Where writes of different values are known.
    differ: Vec<bool>,
    pairs: ReportedPairs,
    reports: Vec<RawReport>,
    idempotent: FxHashSet<LocationId>,
}

/// `R W'` and so on.
pub(super) fn pattern(first: StepKind, second: StepKind) -> String {
    let letter = |k: StepKind| if k.writes() { "W" } else { "R" };
    format!("{} {}'", letter(first), letter(second))
}

impl Predicted {
    /// Locations on which races are harmless because all write the same; complete after `finish`.
    pub fn idempotent(&self) -> &FxHashSet<LocationId> {
        &self.idempotent
    }

    fn check(&mut self, view: &View, access: &Access, place: &LocationHistory) {
        let hard = view.hard(access);
        let races = |other: &Point, time: u32| {
            other.thread != access.thread()
                && (other.kind.writes() || access.writes())
                && view.locksets.compatible(other.locks, access.point.locks)
                && !hard.knows(Moment {
                    thread: other.thread,
                    time,
                })
        };
        let crowd = place.crowd.as_deref();
        let racing: Option<SmallVec<[&Point; 4]>> = crowd.map(|crowd| {
            crowd
                .all()
                .filter(|(other, time)| races(other, *time))
                .map(|(p, _)| p)
                .collect()
        });
        if racing.as_ref().is_some_and(|racing| racing.is_empty()) {
            return;
        }
        let times = place.entries.iter().map(|entry| entry.time);
        let kept = place
            .points
            .iter()
            .zip(times)
            .filter(|(other, time)| races(other, *time));
        for other in kept.map(|(other, _)| other).chain(racing.into_iter().flatten()) {
            if !self.pairs.is_new(other.site, access.point.site, access.location) {
                continue;
            }
            self.reports.push(RawReport {
                analysis: "race",
                rule: Rule::DataRace,
                evidence: Evidence::Predicted,
                pattern: pattern(other.kind, access.point.kind),
                steps: vec![
                    race_step(*other, access.location),
                    race_step(access.point, access.location),
                ],
                observed: false,
            });
        }
    }
}

/// A write that repeats what is there, by a thread that has found nothing there in the same activation. One that has found
/// something computes from it: a counter.
fn follow_writes(place: &mut LocationHistory, access: &Access) -> Writes {
    let found = place.found_zero.iter();
    let here = |entry: &&(ThreadId, StackId, SiteId)| (entry.0, entry.1) == (access.thread(), access.point.stack);
    let look = found.copied().find(|entry| here(&entry)).map(|(.., site)| site);
    if let Some(site) = look.filter(|site| !place.looks.contains(site)) {
        place.looks.push(site);
    }
    let looked = look.is_some();
    match (place.writes, access.value) {
        // A digest will do: of a primitive value it is the same for the same value.
        (Writes::None, value) if looked && value != Value::Unknown => Writes::Same(value, 1),
        (Writes::Same(known, n), value) if known == value && looked => Writes::Same(value, n + 1),
        _ => Writes::Differ,
    }
}

fn is_primitive(cx: &Context<'_>, location: LocationId) -> bool {
    let names = cx.names;
    match names.locations[cx.state.cells.named(location).index()] {
        Location::Field(_, field) | Location::Static(field) => {
            matches!(
                names.field(field).descriptor.as_str(),
                "I" | "S" | "B" | "C" | "Z" | "F"
            )
        }
        _ => false,
    }
}

impl Analysis for Predicted {
    fn name(&self) -> &'static str {
        "race-predicted"
    }

    fn needs(&self) -> Needs {
        Needs {
            hard: true,
            repeats: true,
            ..Needs::default()
        }
    }

    fn access(&mut self, view: &View, access: &Access) {
        if access.cell.synchronizing || access.cell.exempt || access.cell.race_free {
            return;
        }
        let index = access.location.index();
        // Every write counts until it is known that not all write the same.
        let settled = !access.writes() || self.differ.get(index).is_some_and(|differ| *differ);
        if access.repeated && settled {
            return;
        }
        if self.places.len() <= index {
            self.places.resize_with(index + 1, || None);
        }
        let place = self.places[index].get_or_insert_with(Box::default);
        if !access.writes() && place.writes != Writes::Differ {
            place.found_zero.retain(|(thread, ..)| *thread != access.thread());
            let site = access.point.site;
            if access.value == Value::Exact(0) && place.found_zero.len() < LIMIT {
                place.found_zero.push((access.thread(), access.point.stack, site));
            }
            if place.reads.as_ref().is_some_and(|reads| reads.len() == LIMIT) {
                place.reads = None;
            }
            if let Some(reads) = place.reads.as_mut().filter(|reads| !reads.contains(&site)) {
                reads.push(site);
            }
        }
        if access.writes() && place.writes != Writes::Differ {
            place.writes = follow_writes(place.as_mut(), access);
            let known = self.differ.len().max(index + 1);
            self.differ.resize(known, false);
            self.differ[index] = place.writes == Writes::Differ;
        }
        if place.note(view, access, access.time)
            && let Some(place) = self.places[index].take()
        {
            self.check(view, access, &place);
            self.places[index] = Some(place);
        }
    }

    fn left_out(&self) -> Vec<String> {
        let forgotten = self.places.iter().flatten().map(|place| place.forgotten).sum();
        let crowds = self.places.iter().flatten().filter_map(|place| place.crowd.as_deref());
        let variants = crowds.map(|crowd| crowd.forgotten).sum();
        let places = format!("further places of threads that access a variable in more than {LIMIT} ways");
        let sets = format!(
            "accesses of threads that hold more than {} sets of locks at a variable",
            crowd::VARIANTS
        );
        left_out("race", [(forgotten, places.as_str()), (variants, sets.as_str())])
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        for report in &self.reports {
            let Some(location) = report.steps.first().and_then(|s| s.location) else {
                continue;
            };
            let place = self.places.get(location.index()).and_then(Option::as_ref);
            let same = place.is_some_and(|p| matches!(p.writes, Writes::Same(..)) && p.is_read_where_it_is_cached(cx));
            if same && is_primitive(cx, location) {
                self.idempotent.insert(location);
            }
        }
        let idempotent = &self.idempotent;
        self.reports.retain(|r| {
            !r.steps
                .iter()
                .filter_map(|s| s.location)
                .any(|l| idempotent.contains(&l))
        });
        std::mem::take(&mut self.reports)
    }
}

impl Default for LocationHistory {
    fn default() -> Self {
        LocationHistory {
            hints: [0; 16],
            entries: SmallVec::new(),
            keys: [0; 4],
            points: Vec::new(),
            crowd: None,
            guard: None,
            guard_of: LocksetId::EMPTY,
            writes: Writes::None,
            found_zero: SmallVec::new(),
            looks: SmallVec::new(),
            reads: Some(SmallVec::new()),
            forgotten: 0,
        }
    }
}

impl LocationHistory {
    /// Remembers an access; true if it must be checked against the others: its kind is new, or it is the first since
    /// an edge of its thread, and others that came before the last one may be unordered with it. An access in the same
    /// moment as an earlier one of its kind is ordered as that was.
    #[inline]
    fn note(&mut self, view: &View, access: &Access, time: u32) -> bool {
        let point = &access.point;
        let guarded = self.keeps_guard(&view.locksets, point.locks);
        let key = u64::from(point.site.0) << 32 | u64::from(point.thread.0) << 3 | point.kind as u64;
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hint = (hash >> 60) as usize;
        let at = match self.crowd {
            None => usize::from(self.hints[hint]),
            Some(_) => crowd::slot(key, point.locks),
        };
        if let Some(entry) = self.entries.get(at)
            && entry.key == key
            && entry.time == time
            && (entry.locks == point.locks || view.locksets.is_subset(entry.locks, point.locks))
        {
            return false;
        }
        let entry = RememberedAccess {
            key,
            locks: point.locks,
            time,
        };
        if let Some(crowd) = &mut self.crowd {
            crowd.note(&view.locksets, point, time);
            let old = std::mem::replace(&mut self.entries[at], entry);
            self.points[at] = *point;
            self.forgotten += u64::from(old.key != crowd::NOBODY && (old.key, old.locks) != (key, entry.locks));
            return !guarded;
        }
        let mut alike = false;
        let (word, bit) = ((hash >> 54 & 3) as usize, 1 << (hash >> 48 & 63));
        let known = if self.keys[word] & bit == 0 {
            0
        } else {
            self.entries.len()
        };
        self.keys[word] |= bit;
        for (i, entry) in self.entries[..known].iter_mut().enumerate() {
            if entry.key != key {
                continue;
            }
            if entry.locks == point.locks {
                self.hints[hint] = i as u8;
                if entry.time == time {
                    return false;
                }
                entry.time = time;
                self.points[i] = *point;
                return !guarded;
            }
            // Whatever can meet an access under more locks can meet one under fewer.
            if entry.time == time && view.locksets.is_subset(entry.locks, point.locks) {
                self.hints[hint] = i as u8;
                return false;
            }
            alike = true;
        }
        if alike {
            self.drop_dominated(view, key, point.locks);
        }
        if self.entries.len() == LIMIT {
            self.crowd(&view.locksets);
            return self.note(view, access, time);
        }
        if self.points.capacity() == 0 {
            self.points.reserve_exact(1);
        }
        self.entries.push(entry);
        self.points.push(*point);
        !guarded
    }

    /// Whether some lock is held alone at all accesses, this one included: then no two of them meet.
    #[inline]
    fn keeps_guard(&mut self, sets: &LockTable, locks: LocksetId) -> bool {
        match &mut self.guard {
            Some(guard) if guard.is_empty() => return false,
            Some(_) if self.guard_of == locks => return true,
            Some(guard) => {
                let held = sets.locks(locks);
                let alone = |lock: LockId| {
                    held.iter()
                        .any(|held| held.lock == lock && held.mode == Mode::Exclusive)
                };
                guard.retain(|lock| alone(*lock));
            }
            none => {
                let alone = sets.locks(locks).iter().filter(|held| held.mode == Mode::Exclusive);
                *none = Some(alone.map(|held| held.lock).collect());
            }
        }
        self.guard_of = locks;
        self.guard.as_ref().is_some_and(|guard| !guard.is_empty())
    }

    /// There are too many kinds of access: from now on each has one slot, and what matters of all is kept for itself.
    #[cold]
    fn crowd(&mut self, sets: &LockTable) {
        let mut crowd = Crowd::default();
        let (entries, points) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.points));
        self.entries.resize(LIMIT, RememberedAccess::NOBODY);
        self.points.resize(LIMIT, points[0]);
        for (entry, point) in entries.into_iter().zip(points) {
            crowd.note(sets, &point, entry.time);
            let slot = crowd::slot(entry.key, entry.locks);
            self.forgotten += u64::from(self.entries[slot].key != crowd::NOBODY);
            (self.entries[slot], self.points[slot]) = (entry, point);
        }
        self.crowd = Some(Box::new(crowd));
    }
}

impl LocationHistory {
    /// Whether only the methods read it that look for a zero and then write. Another method that reads it may see either value: the
    /// location is no cache but a variable, as in `x += 3`.
    fn is_read_where_it_is_cached(&self, cx: &Context<'_>) -> bool {
        let method = |site: &SiteId| cx.names.site(*site).method;
        let reads = self.reads.as_ref();
        reads.is_some_and(|reads| {
            let mut methods = reads.iter().map(method);
            methods.all(|read| self.looks.iter().any(|look| method(look) == read))
        })
    }

    /// Forgets what was done under more locks than these.
    fn drop_dominated(&mut self, view: &View, key: u64, locks: LocksetId) {
        let mut i = 0;
        while i < self.entries.len() {
            if self.entries[i].key == key && view.locksets.is_subset(locks, self.entries[i].locks) {
                self.entries.swap_remove(i);
                self.points.swap_remove(i);
            } else {
                i += 1;
            }
        }
    }
}
