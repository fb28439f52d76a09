//! What the serial orders of a finding's units did, so that a report can show them beside the order that does harm.

use std::collections::BTreeSet;

use ravel_analysis::finding::{Finding, FindingStep, SerialRun};
use ravel_schedule::naming::thread_names;
use ravel_trace::LocationId;

use super::controls::Controls;
use super::harm::{Harm, Judged};
use super::marks::{Mark, inside, key_given, op_name, place, variable};
use super::objects::Objects;
use crate::runner::Forced;

/// More steps than this tell a reader nothing at a glance.
const MOST_STEPS: usize = 8;

impl Judged<'_> {
    /// One run of each serial order, in the order in which its threads ran.
    pub fn serial_runs(&self, finding: &Finding, harm: &Harm, forced: &Forced, controls: &Controls) -> Vec<SerialRun> {
        let runs = controls.orders.iter().filter_map(|order| order.first());
        let told = runs.filter_map(|run| {
            let mut steps = self.accesses(finding, run)?;
            let objects = Objects::of(steps.iter().map(|step| step.value.as_ref()));
            for value in steps.iter_mut().filter_map(|step| step.value.as_mut()) {
                *value = objects.told(value);
            }
            let mut threads: Vec<String> = Vec::new();
            for step in &steps {
                if !threads.contains(&step.thread) {
                    threads.push(step.thread.clone());
                }
            }
            Some(SerialRun {
                threads,
                steps: if steps.len() > MOST_STEPS { Vec::new() } else { steps },
                outcome: self.instead(harm, forced, run, &objects),
            })
        });
        told.collect()
    }

    /// The accesses of the pattern's threads to its locations, in the methods that the pattern is of.
    fn accesses(&self, finding: &Finding, run: &Forced) -> Option<Vec<FindingStep>> {
        let (events, names) = run.trace.as_ref()?;
        let cells = self.marks.cells(self.candidate, events, names);
        let locations: BTreeSet<LocationId> = cells
            .into_iter()
            .flatten()
            .filter_map(|at| events[at].op.location())
            .collect();
        let marks: Vec<&Mark> = self
            .candidate
            .events
            .iter()
            .filter_map(|event| self.marks.get(event.index))
            .collect();
        // The finding may call a variable by more than its field.
        let told = |variable: String| {
            let at = marks.iter().position(|mark| mark.variable == variable);
            let step = at
                .and_then(|at| finding.steps.get(at))
                .filter(|step| !step.variable.is_empty());
            step.map_or(variable, |step| step.variable.clone())
        };
        let paths = thread_names(names, names.threads.len());
        let mut steps = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let Some(thread) = paths.get(event.thread.index()) else {
                continue;
            };
            let is_of_pattern = event.op.location().is_some_and(|at| locations.contains(&at));
            if !is_of_pattern || !self.threads.contains(&thread.name) {
                continue;
            }
            let call = run.call_before(at, event.thread);
            let (class, method, file, line) = place(event, call, names);
            if !marks.iter().any(|mark| mark.place.0 == class && mark.place.1 == method) {
                continue;
            }
            let key = key_given(event, call, names);
            let (inside, call) = inside(event, call, names).unzip();
            steps.push(FindingStep {
                thread: thread.name.clone(),
                op: op_name(&event.op).to_owned(),
                variable: told(variable(event, names)),
                value: names.value_text(event),
                part: names.part_text(event),
                key,
                class,
                method,
                file,
                line,
                inside,
                call,
                ..FindingStep::default()
            });
        }
        Some(steps)
    }
}
