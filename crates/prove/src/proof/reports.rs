//! Whether a pattern shows in nothing but a report: the units read what others write meanwhile, print it, and do nothing else with it.
//!
//! A method that reads a shared value twice, each time under its lock, and prints both, tells two moments. No serial order prints that, and
//! nothing is wrong with it: that the two reads belong together was assumed. It is different once the method changes something after
//! it has read, or hands on what it read: then it acts on values that no longer hold, and the output is the trace of that.
//!
//! So the reads of such a unit are taken out of the pattern. If the units come one after the other in the rest, output alone is no harm.
//!
//! The same holds for a method that changes something and then tells how things are: a crawler that adds a page, counts it and prints its progress
//! tells what others have done meanwhile. If the units wrote to everything that they share as often, and the same values, as in some serial
//! order, the state is right, and only the moments that were printed differ. What a map holds for a key is not known, so nothing is said of it.
//!
//! Critical sections and declared units are atomic by what the program says, and everything that they print counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use ravel_analysis::finding::UnitKind;
use ravel_analysis::sets::{Guard, guard_at};
use ravel_schedule::naming;
use ravel_trace::names::Location;
use ravel_trace::{Event, LocationId, Names, Op, ThreadId, Value};
use rustc_hash::FxHashMap;

use super::controls::Controls;
use super::harm::Judged;
use super::marks::variable;
use crate::runner::Forced;

/// What the units of a run wrote to variables that threads share: how often each of them did, and which values in all.
#[derive(PartialEq, Eq, Debug)]
struct Effects {
    writes: BTreeMap<(String, String), usize>,
    values: BTreeMap<String, Vec<Value>>,
}

impl Judged<'_> {
    /// Whether the output of these runs tells of nothing but the moments at which it was printed.
    pub(super) fn is_report(&self, runs: &[Arc<Forced>], controls: &Controls) -> bool {
        self.has_only_reads(runs) || self.has_serial_effects(runs, controls)
    }

    /// Whether each run changed what its threads share as one run of a serial order did. Only assumed units without a result are looked at.
    fn has_serial_effects(&self, runs: &[Arc<Forced>], controls: &Controls) -> bool {
        let serial: Vec<Effects> = controls.runs().filter_map(|run| self.effects(run)).collect();
        (0..self.candidate.units.len()).all(|unit| self.only_prints(unit))
            && runs
                .iter()
                .all(|run| self.effects(run).is_some_and(|effects| serial.contains(&effects)))
    }

    /// None if not all of it is known.
    fn effects(&self, run: &Forced) -> Option<Effects> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial && run.whole)?;
        let shared = shared(events);
        let inside = self.inside(run, events, names);
        let paths = naming::thread_names(names, names.threads.len());
        let mut effects = Effects {
            writes: BTreeMap::new(),
            values: BTreeMap::new(),
        };
        for (event, _) in events.iter().zip(&inside).filter(|(_, inside)| **inside) {
            let (Op::Write { location, value } | Op::Update { location, value }) = event.op else {
                continue;
            };
            if shared.get(&location) != Some(&None) {
                continue;
            }
            if value == Value::Unknown || matches!(names.locations[location.index()], Location::Entry(..)) {
                return None;
            }
            let variable = variable(event, names);
            let path = paths.get(event.thread.index()).map_or("", |name| name.path.as_str());
            *effects.writes.entry((path.to_owned(), variable.clone())).or_default() += 1;
            effects.values.entry(variable).or_default().push(value);
        }
        for values in effects.values.values_mut() {
            values.sort_by_key(|value| match *value {
                Value::Unknown => (0, 0),
                Value::Exact(number) => (1, number),
                Value::Digest(digest) => (2, i64::from(digest)),
            });
        }
        Some(effects)
    }

    /// Whether the pattern is one of reports in each of these runs.
    fn has_only_reads(&self, runs: &[Arc<Forced>]) -> bool {
        let is_report = |run: &Arc<Forced>| match &run.trace {
            Some((events, names)) if !run.partial => self.is_report_in(run, events, names),
            _ => false,
        };
        runs.iter().all(is_report)
    }

    fn is_report_in(&self, run: &Forced, events: &[Event], names: &Names) -> bool {
        let inside = self.inside(run, events, names);
        let shared = shared(events);
        let Ok(places) = self.marks.find(self.candidate, self.shifts, events, names) else {
            return false;
        };
        // A conditional write that did not take place was to change something all the same.
        let acts = |event: &Event| event.op.is_write() || guard_at(names, event.site) != Guard::None;
        let changes_later = |place: usize| {
            let rest = events.iter().zip(&inside).skip(place + 1);
            rest.filter(|(event, inside)| **inside && event.thread == events[place].thread && acts(event))
                .filter_map(|(event, _)| event.op.location())
                .any(|location| shared.get(&location) == Some(&None))
        };
        let mut rest: Vec<usize> = Vec::new();
        for (event, (&owner, place)) in self.candidate.owners.iter().zip(places).enumerate() {
            let is_told = |unit: usize| !acts(&events[place]) && self.only_prints(unit) && !changes_later(place);
            if !owner.is_some_and(is_told) {
                // An access that belongs to no unit is one by itself.
                rest.push(owner.unwrap_or(self.candidate.units.len() + event));
            }
        }
        rest.len() < self.candidate.events.len() && is_serial(&rest)
    }

    /// Whether a unit was only assumed to be one, and is a method that returns nothing.
    fn only_prints(&self, unit: usize) -> bool {
        let Some(unit) = self.candidate.units.get(unit) else {
            return false;
        };
        let Some(mark) = self.marks.get(unit.begin.index) else {
            return false;
        };
        // The site is the method, a blank and a bytecode index.
        let method = mark.method.as_deref().or_else(|| mark.site.split(' ').next());
        matches!(unit.kind, UnitKind::Method | UnitKind::Compound)
            && method.is_some_and(|method| method.ends_with(")V"))
    }
}

/// The only thread that accesses each location; none if there are several.
fn shared(events: &[Event]) -> FxHashMap<LocationId, Option<ThreadId>> {
    let mut threads: FxHashMap<LocationId, Option<ThreadId>> = FxHashMap::default();
    for event in events {
        if let Some(location) = event.op.location() {
            let only = threads.entry(location).or_insert(Some(event.thread));
            *only = only.filter(|thread| *thread == event.thread);
        }
    }
    threads
}

/// Whether the steps of each unit follow each other.
fn is_serial(owners: &[usize]) -> bool {
    let mut stretches: Vec<usize> = owners.to_vec();
    stretches.dedup();
    let mut units = stretches.clone();
    units.sort_unstable();
    units.dedup();
    units.len() == stretches.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_serial_if_each_has_one_stretch() {
        assert!(is_serial(&[]) && is_serial(&[0, 0, 1]) && is_serial(&[1, 0]));
        assert!(!is_serial(&[0, 1, 0]));
    }
}
