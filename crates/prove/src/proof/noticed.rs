//! Whether the units themselves noticed that others came between: a conditional write (`compareAndSet`, `replace`) that found the location changed
//! did not take place, which it does in no serial order.
//!
//! A unit that knows this may try again, or tell its caller that it failed. What it returns is then intended. The program may print
//! how often it tried; an update is lost only if a write is missing in the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use ravel_analysis::sets::{Guard, guard_at};

use super::controls::Controls;
use super::harm::Judged;
use super::marks::variable;
use crate::runner::Forced;

impl Judged<'_> {
    /// Whether the units of each run noticed that others came between.
    pub(super) fn is_noticed(&self, runs: &[Arc<Forced>], controls: &Controls) -> bool {
        let failed = |run: &Arc<Forced>| self.failed_writes(run).len();
        let in_serial = controls.runs().map(failed).max().unwrap_or(0);
        runs.iter().all(|run| failed(run) > in_serial)
    }

    /// Whether the units noticed it and lost no write: the forced runs and the serial runs wrote to each variable equally often.
    pub(super) fn is_made_up_for(&self, runs: &[Arc<Forced>], controls: &Controls) -> bool {
        let as_often = |run: &Arc<Forced>| {
            let variables: BTreeSet<String> = self.failed_writes(run).into_iter().collect();
            let is_alike = |name: &String| {
                let count = writes(run, name);
                count.is_some() && controls.runs().all(|other| writes(other, name) == count)
            };
            variables.iter().all(is_alike)
        };
        self.is_noticed(runs, controls) && runs.iter().all(as_often)
    }

    /// The variables of the conditional writes that did not take place in the units of a run, one for each; none if not all of the run is known.
    fn failed_writes(&self, run: &Forced) -> Vec<String> {
        let Some((events, names)) = run.trace.as_ref().filter(|_| !run.partial) else {
            return Vec::new();
        };
        let inside = self.inside(run, events, names);
        let of_units = events.iter().zip(&inside).filter(|(_, inside)| **inside);
        of_units
            .map(|(event, _)| event)
            .filter(|event| event.op.location().is_some() && !event.op.is_write())
            .filter(|event| guard_at(names, event.site) != Guard::None)
            .map(|event| variable(event, names))
            .collect()
    }
}

/// How often a run wrote to each variable, over all objects, since object numbers mean nothing in another run. None if the trace is partial.
fn writes(run: &Forced, name: &str) -> Option<usize> {
    let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
    let writes = events.iter().filter(|event| event.op.is_write());
    Some(writes.filter(|event| variable(event, names) == name).count())
}
