//! Whether the units themselves noticed that others came between: a conditional write (`compareAndSet`, `replace`) that found the location changed
//! did not take place, which it does in no serial order.
//!
//! A unit that knows this may try again, or tell its caller that it failed. What it returns is then as it was meant. What the program prints may
//! be how often it had to try; it is a lost update only if a write is missing in the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use ravel_analysis::sets::{Guard, guard_at};
use ravel_trace::LocationId;
use rustc_hash::FxHashSet;

use super::controls::Controls;
use super::harm::Judged;
use super::marks::variable;
use crate::runner::Forced;

/// What conditional writes came to in a run.
struct Conditional {
    /// Those of the units that did not take place.
    failed: usize,
    /// How often the whole run wrote to each variable on which one failed, in the units of either run.
    writes: BTreeMap<String, usize>,
}

impl Judged<'_> {
    /// Whether the units of each run noticed that others came between.
    pub(super) fn is_noticed(&self, runs: &[Arc<Forced>], controls: &Controls) -> bool {
        let failed = |run: &Arc<Forced>| self.conditional(run).map_or(0, |found| found.failed);
        let in_serial = controls.runs().map(failed).max().unwrap_or(0);
        runs.iter().all(|run| failed(run) > in_serial)
    }

    /// Whether they did, and what did not take place was made up for: each run wrote as often as a serial one.
    pub(super) fn is_made_up_for(&self, runs: &[Arc<Forced>], controls: &Controls) -> bool {
        let as_often = |run: &Arc<Forced>| {
            let Some(found) = self.conditional(run) else {
                return false;
            };
            let is_alike = |other: &Arc<Forced>| {
                let (events, names) = match &other.trace {
                    Some((events, names)) if !other.partial => (events, names),
                    _ => return false,
                };
                let writes = |wanted: &String| {
                    let writes = events.iter().filter(|event| event.op.is_write());
                    writes.filter(|event| variable(event, names) == *wanted).count()
                };
                found.writes.iter().all(|(name, count)| writes(name) == *count)
            };
            controls.runs().all(is_alike)
        };
        self.is_noticed(runs, controls) && runs.iter().all(as_often)
    }

    /// None if not all of it is known.
    fn conditional(&self, run: &Forced) -> Option<Conditional> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
        let inside = self.inside(run, events, names);
        let mut locations: FxHashSet<LocationId> = FxHashSet::default();
        let mut found = Conditional {
            failed: 0,
            writes: BTreeMap::new(),
        };
        for (event, _) in events.iter().zip(&inside).filter(|(_, inside)| **inside) {
            let location = event.op.location().filter(|_| !event.op.is_write());
            if let Some(location) = location.filter(|_| guard_at(names, event.site) != Guard::None) {
                found.failed += 1;
                locations.insert(location);
                found.writes.entry(variable(event, names)).or_default();
            }
        }
        for event in events.iter().filter(|event| event.op.is_write()) {
            if event
                .op
                .location()
                .is_some_and(|location| locations.contains(&location))
            {
                *found.writes.entry(variable(event, names)).or_default() += 1;
            }
        }
        Some(found)
    }
}
