//! Describes a finding by the occurrence that happened, if that is not the one that it described before.

use std::collections::BTreeSet;

use ravel_analysis::describe::{message, named};
use ravel_analysis::finding::{Candidate, Finding, FindingStep, RuleFamily};
use ravel_trace::naming::lock::unnumbered;

use super::marks::Marks;

/// What an access of a forced run tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToldAccess {
    /// What it read or wrote.
    pub value: Option<String>,
    /// The index of its element, the key of its entry.
    pub part: Option<String>,
}

impl Marks {
    /// Describes the finding by the occurrence that happened, with its values.
    pub fn retell(&self, finding: &mut Finding, candidate: &Candidate, accesses: &[ToldAccess]) {
        if finding.steps.len() != candidate.events.len() {
            return;
        }
        let told: Vec<FindingStep> = finding.steps.clone();
        for (step, event) in finding.steps.iter_mut().zip(&candidate.events) {
            let Some(same) = told
                .iter()
                .find(|told| told.event.is_some_and(|told| told.index == event.index))
            else {
                let Some(mark) = self.get(event.index) else {
                    continue;
                };
                let of_thread = |told: &&FindingStep| {
                    told.event.is_some_and(|told| told.thread == event.thread) && told.variable == mark.variable
                };
                let Some(like) = told.iter().find(of_thread) else {
                    continue;
                };
                *step = like.clone();
                step.stack.clone_from(&mark.stack);
                // Numbers tell the locks of a finding apart.
                let names: BTreeSet<&str> = like.locks.iter().map(|lock| unnumbered(lock)).collect();
                if names != mark.held.iter().map(String::as_str).collect() {
                    step.locks.clone_from(&mark.held);
                    step.read_locks.clear();
                }
                step.op = mark.op.to_string();
                (step.class, step.method, step.file, step.line) = mark.place.clone();
                (step.inside, step.call) = mark.inside.clone().unzip();
                step.event = Some(*event);
                continue;
            };
            *step = same.clone();
        }
        // This sentence tells between which accesses the other thread comes in.
        if finding.steps != told && finding.rule.family() == RuleFamily::Atomicity {
            finding.message = retold(finding);
        }
        for (step, access) in finding.steps.iter_mut().zip(accesses) {
            step.value.clone_from(&access.value);
            step.part.clone_from(&access.part);
        }
    }
}

/// The sentence of a finding for the steps that it has now.
fn retold(finding: &Finding) -> String {
    let mut variables: Vec<String> = Vec::new();
    for step in finding.steps.iter().filter(|step| !step.variable.is_empty()) {
        if !variables.contains(&step.variable) {
            variables.push(step.variable.clone());
        }
    }
    let sentence = message(finding.rule, &variables, &finding.units, &finding.steps);
    named(finding.own_pattern.as_deref(), sentence)
}
