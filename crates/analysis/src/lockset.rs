//! Fields with no consistent lock: the lockset algorithm (Eraser), as in Focus, section 2.1.
//!
//! **Paper.** A location goes through the states of Eraser: untouched, exclusive to one thread (initialisation), shared
//! for reading, shared and written. From its second thread on, every access shrinks the set of locks that may protect
//! it; a location that is shared and written under no common lock is reported. As in Focus this can be done per field
//! or per object.
//!
//! **Departures.** A read counts locks held in any mode, a write only locks held exclusively (Eraser's own refinement).
//! A thread whose access comes after all earlier ones by hard order (start, join, hand-over through a queue, publication
//! through a volatile) becomes the new exclusive owner: the order proves it safe. A field declared `@GuardedBy("this")` is
//! reported at its first access without that lock once it is shared, even if no thread has written it yet or all accesses hold
//! some other lock. What object another guard is (a field, a method, a class) a trace does not say, but it is one for all fields
//! of the object (of the program, for a class) that name it: some one lock must be held at all their accesses. Volatile
//! and modelled locations are left out. Each pair of sites is reported once.
//!
//! **Promise.** Evidence is `suspected`: a rule of thumb is broken. False alarms where another discipline protects
//! (ownership that passes back and forth, barriers in the shared state). Misses accesses made while exclusive, and what
//! only another run would show.
//!
//! **Cost.** Constant time per access in the common case (same locks as last time), at most the number of locks held
//! otherwise; about 250 bytes per location; a repetition touches 25 of them.

use crate::engine::{Access, Analysis, Context, Needs, View};
use crate::finding::{Evidence, Rule};
use crate::locks::LocksetId;
use crate::order::{Clock, Moment};
use crate::raw::{Point, RawReport, RawStep};
use crate::repeats::{Repeats, Seen};
use crate::sets::CellKind;
use ravel_trace::{LocationId, LockId, Mode, SiteId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// What one candidate set belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// Each field of each object.
    #[default]
    Field,
    /// All plain fields of an object together, the static fields of a class, the elements of an array.
    Object,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Exclusive,
    SharedRead,
    SharedWritten,
    Reported,
}

#[derive(Debug)]
struct Protected {
    stage: Stage,
    owner: Moment,
    last: Point,
    location: LocationId,
    /// The latest access by another thread than `last`'s.
    other: Option<(Point, LocationId)>,
    candidates: SmallVec<[LockId; 2]>,
    /// When each thread last came, while shared.
    visits: SmallVec<[Moment; 4]>,
    refined_by: LocksetId,
    refined_for_write: bool,
}

/// The analysis.
#[derive(Debug, Default)]
pub struct Lockset {
    granularity: Granularity,
    places: Vec<Option<Box<Protected>>>,
    /// What was seen of locations while they were shared; only by field.
    repeats: Repeats,
    shared: Vec<bool>,
    reports: Vec<RawReport>,
    pairs: FxHashSet<(SiteId, SiteId, LocationId)>,
}

impl Lockset {
    /// With candidate sets per field or per object.
    pub fn new(granularity: Granularity) -> Self {
        Lockset {
            granularity,
            ..Lockset::default()
        }
    }

    /// All variables of an imported trace are one atomic set, but not one object.
    #[inline]
    fn key(&self, access: &Access) -> usize {
        match self.granularity {
            Granularity::Object if access.cell.kind != CellKind::Imported => access.cell.set.0 as usize,
            _ => access.location.index(),
        }
    }

    fn report(&mut self, place: &Protected, access: &Access) {
        let Some((other, location)) = place.other else { return };
        let (a, b) = (other.site.min(access.point.site), other.site.max(access.point.site));
        let unknown = a == SiteId(0) || b == SiteId(0);
        let told_by = if unknown { access.location } else { LocationId(u32::MAX) };
        if !self.pairs.insert((a, b, told_by)) {
            return;
        }
        let step = |point, location| RawStep {
            point,
            location: Some(location),
            lock: None,
            owner: None,
        };
        self.reports.push(RawReport {
            analysis: "lockset",
            rule: Rule::LockDiscipline,
            evidence: Evidence::Suspected,
            pattern: String::new(),
            steps: vec![step(other, location), step(access.point, access.location)],
            observed: false,
        });
    }
}

fn refine(place: &mut Protected, view: &View, access: &Access, first: bool) {
    let (locks, write) = (access.point.locks, access.writes());
    let known = !first && place.refined_by == locks && (place.refined_for_write || !write);
    if known {
        return;
    }
    let held = view.locksets.locks(locks);
    let protects = |lock: LockId| {
        held.iter()
            .any(|h| h.lock == lock && (!write || h.mode == Mode::Exclusive))
    };
    if first {
        let all = held.iter().map(|h| h.lock).filter(|l| protects(*l));
        place.candidates = all.collect();
    } else {
        place.candidates.retain(|lock| protects(*lock));
    }
    place.refined_by = locks;
    place.refined_for_write = write;
}

impl Analysis for Lockset {
    fn name(&self) -> &'static str {
        "lockset"
    }

    fn needs(&self) -> Needs {
        Needs {
            hard: true,
            every: self.granularity == Granularity::Object,
            ..Needs::default()
        }
    }

    fn access(&mut self, view: &View, access: &Access) {
        if access.is_synchronization() || access.cell.exempt || access.cell.race_free {
            return;
        }
        let key = self.key(access);
        // While a location is shared, a repetition under no fewer locks shrinks nothing.
        if self.granularity == Granularity::Field && self.shared.get(key).is_some_and(|shared| *shared) {
            let seen = Seen::of(access);
            if self.repeats.is_repeated(&seen, &view.locksets) {
                return;
            }
        }
        if self.places.len() <= key {
            self.places.resize_with(key + 1, || None);
            self.shared.resize(key + 1, false);
        }
        let now = access.now();
        let hard = view.hard(access);
        let Some(place) = &mut self.places[key] else {
            self.places[key] = Some(Box::new(Protected {
                stage: Stage::Exclusive,
                owner: now,
                last: access.point,
                location: access.location,
                other: None,
                candidates: SmallVec::new(),
                visits: SmallVec::new(),
                refined_by: LocksetId::EMPTY,
                refined_for_write: false,
            }));
            return;
        };
        if place.stage == Stage::Exclusive && (place.owner.thread == now.thread || hard.knows(place.owner)) {
            place.owner = now;
            place.last = access.point;
            place.location = access.location;
            return;
        }
        if place.last.thread != now.thread {
            place.other = Some((place.last, place.location));
        }
        place.last = access.point;
        place.location = access.location;
        if place.stage == Stage::Exclusive {
            place.visits = SmallVec::from_slice(&[place.owner]);
            self.shared[key] = true;
            self.repeats.forget(access.location);
        }
        refine(place, view, access, place.stage == Stage::Exclusive);
        visit(&mut place.visits, now);
        place.stage = match (place.stage, access.writes()) {
            (Stage::Reported, _) => return,
            (Stage::SharedWritten, _) | (_, true) => Stage::SharedWritten,
            (_, false) => Stage::SharedRead,
        };
        let breaks_word = access.cell.unguarded && !all_before(hard, now, &place.visits);
        if !breaks_word
            && place.stage == Stage::SharedWritten
            && place.candidates.is_empty()
            && all_before(hard, now, &place.visits)
        {
            place.stage = Stage::Exclusive;
            place.owner = now;
            self.shared[key] = false;
            return;
        }
        let broken = place.stage == Stage::SharedWritten && place.candidates.is_empty();
        if (broken || breaks_word)
            && let Some(mut place) = self.places[key].take()
        {
            place.stage = Stage::Reported;
            self.report(&place, access);
            self.places[key] = Some(place);
        }
    }

    fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
        std::mem::take(&mut self.reports)
    }
}

fn visit(visits: &mut SmallVec<[Moment; 4]>, now: Moment) {
    match visits.iter_mut().find(|m| m.thread == now.thread) {
        Some(moment) => moment.time = now.time,
        None => visits.push(now),
    }
}

/// Whether everybody's last visit comes before: threads joined, a phase over.
fn all_before(hard: &Clock, now: Moment, visits: &[Moment]) -> bool {
    visits.iter().all(|m| m.thread == now.thread || hard.knows(*m))
}
