//! Races of other runs: Pecan's hybrid model (sections 3 to 5), no common lock and no hard order.
//!
//! **Paper.** A pair of conflicting accesses of two threads may be brought side by side if they hold no common lock and
//! neither comes before the other by fork/join, wait/notify and the like. Algorithm 1 prints `≠ ∅` for the common
//! locks where section 4.2 means `= ∅`.
//!
//! **Departures.** One pass, no graph. Of the accesses of one thread at one site, of one kind, under one set of locks, only
//! the latest is kept: a later access of another thread that is unordered with an earlier one is unordered with it as
//! well. A pair of sites is reported once. A race on a primitive field to which every writer, after having read it, writes
//! the same value is left out: the caching of a hash code, as in `String`.
//!
//! **Promise.** Finds every pair of sites that the hybrid model calls independent, as long as a location has at most
//! [`LIMIT`] kinds of access (then the oldest are forgotten). May report pairs that no run has: locks or values may keep
//! them apart (Pecan's Figure 5); schedule check and replay decide.
//!
//! **Cost.** Per access the kinds of access of its location, at most `LIMIT` short comparisons; a full check only when
//! another thread has come with something new since the last one. Hence linear, however hot a variable is.

use crate::engine::{Access, Analysis, Context, Needs};
use crate::finding::{Evidence, Rule};
use crate::order::Moment;
use crate::raw::{Point, RawReport, RawStep, StepKind};
use ravel_trace::names::{Location, Names};
use ravel_trace::{LocationId, SiteId, Value};
use rustc_hash::FxHashSet;

/// Kinds of access remembered per location.
pub const LIMIT: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Entry {
    point: Point,
    time: u32,
    /// The location's generation when this entry was last checked against all others.
    checked: u32,
}

/// Whether all writes of a location are of the same value, after a look at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writes {
    None,
    Same(Value, u32),
    Differ,
}

#[derive(Debug)]
struct Place {
    entries: Vec<Entry>,
    generation: u32,
    writes: Writes,
}

/// The analysis.
#[derive(Debug, Default)]
pub struct Predicted {
    places: Vec<Option<Box<Place>>>,
    pairs: FxHashSet<(SiteId, SiteId, LocationId)>,
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

    fn check(&mut self, cx: &Context<'_>, access: &Access, entries: &[Entry]) {
        let hard = &cx.state.order.of(access.thread()).hard;
        for entry in entries {
            let other = &entry.point;
            if other.thread == access.thread()
                || !(other.kind.writes() || access.writes())
                || !cx.state.locksets.compatible(other.locks, access.point.locks)
                || hard.knows(Moment {
                    thread: other.thread,
                    time: entry.time,
                })
            {
                continue;
            }
            let (a, b) = (other.site.min(access.point.site), other.site.max(access.point.site));
            let unknown = a == SiteId(0) || b == SiteId(0);
            let told_by = if unknown { access.location } else { LocationId(u32::MAX) };
            if !self.pairs.insert((a, b, told_by)) {
                continue;
            }
            let step = |point| RawStep {
                point,
                location: Some(access.location),
                lock: None,
                owner: None,
            };
            self.reports.push(RawReport {
                analysis: "race",
                rule: Rule::DataRace,
                evidence: Evidence::Predicted,
                pattern: pattern(other.kind, access.point.kind),
                steps: vec![step(*other), step(access.point)],
                observed: false,
            });
        }
    }
}

/// A write that repeats what is there, by a thread that has looked at it in the same activation.
fn follow_writes(writes: Writes, entries: &[Entry], access: &Access) -> Writes {
    let looked = entries
        .iter()
        .any(|e| e.point.thread == access.thread() && !e.point.kind.writes() && e.point.stack == access.point.stack);
    match (writes, access.value) {
        (Writes::None, value @ Value::Exact(_)) if looked => Writes::Same(value, 1),
        (Writes::Same(known, n), value) if known == value && looked => Writes::Same(value, n + 1),
        _ => Writes::Differ,
    }
}

fn is_primitive(names: &Names, location: LocationId) -> bool {
    match names.locations[location.index()] {
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
            ..Needs::default()
        }
    }

    fn access(&mut self, cx: &Context<'_>, access: &Access) {
        if access.cell.synchronizing || access.cell.exempt {
            return;
        }
        let index = access.location.index();
        if self.places.len() <= index {
            self.places.resize_with(index + 1, || None);
        }
        let mut place = self.places[index].take().unwrap_or_else(|| {
            Box::new(Place {
                entries: Vec::with_capacity(2),
                generation: 0,
                writes: Writes::None,
            })
        });
        if access.writes() && place.writes != Writes::Differ {
            place.writes = follow_writes(place.writes, &place.entries, access);
        }
        let time = cx.state.order.now(access.thread()).time;
        let point = &access.point;
        let same = |e: &Entry| {
            e.point.site == point.site
                && e.point.thread == point.thread
                && e.point.locks == point.locks
                && e.point.kind == point.kind
        };
        let mine = match place.entries.iter().position(same) {
            Some(i) => i,
            None => {
                let i = place.entries.len().min(LIMIT);
                let slot = if i < LIMIT { i } else { oldest(&place.entries) };
                let entry = Entry {
                    point: *point,
                    time,
                    checked: u32::MAX,
                };
                if slot == place.entries.len() {
                    place.entries.push(entry);
                } else {
                    place.entries[slot] = entry;
                }
                place.generation = place.generation.wrapping_add(1);
                slot
            }
        };
        if place.entries[mine].time != time {
            // Others that came before the old moment may be unordered with the new one.
            place.generation = place.generation.wrapping_add(1);
        }
        place.entries[mine].point = *point;
        place.entries[mine].time = time;
        if place.entries[mine].checked != place.generation {
            place.entries[mine].checked = place.generation;
            self.check(cx, access, &place.entries);
        }
        self.places[index] = Some(place);
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        for report in &self.reports {
            let Some(location) = report.steps.first().and_then(|s| s.location) else {
                continue;
            };
            let place = self.places.get(location.index()).and_then(Option::as_ref);
            let same = place.is_some_and(|p| matches!(p.writes, Writes::Same(..)));
            if same && is_primitive(cx.names, location) {
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

fn oldest(entries: &[Entry]) -> usize {
    let oldest = entries.iter().enumerate().min_by_key(|(_, e)| e.point.index);
    oldest.map_or(0, |(i, _)| i)
}
