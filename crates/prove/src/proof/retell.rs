//! Describes a finding by the occurrence that happened, if that is not the one that it described before.

use std::collections::BTreeSet;

use ravel_analysis::describe::{message, named};
use ravel_analysis::finding::{Candidate, EventRef, Finding, FindingStep, RuleFamily};
use ravel_schedule::ThreadName;
use ravel_trace::naming::lock::unnumbered;

use super::marks::Marks;

/// What an access of a forced run tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToldAccess {
    /// What it read or wrote.
    pub value: Option<String>,
    /// The index of its element, the key of its entry.
    pub part: Option<String>,
    /// The key that the program gave a map in the call that it lies in.
    pub key: Option<String>,
}

impl Marks {
    /// Describes the finding by the occurrence that happened, with its values. The finding is left as it is if not all steps of that are known: some of
    /// the one and some of the other would be no occurrence at all.
    pub fn retell(
        &self,
        finding: &mut Finding,
        candidate: &Candidate,
        accesses: &[ToldAccess],
        threads: &[ThreadName],
    ) {
        let told: Vec<FindingStep> = finding.steps.clone();
        let steps: Option<Vec<FindingStep>> = candidate
            .events
            .iter()
            .map(|event| self.told_as(event, &told, threads))
            .collect();
        match steps {
            Some(steps) if steps.len() == told.len() => finding.steps = steps,
            _ => return,
        }
        // This sentence tells between which accesses the other thread comes in.
        if finding.steps != told && finding.rule.family() == RuleFamily::Atomicity {
            finding.message = retold(finding);
        }
        for (step, access) in finding.steps.iter_mut().zip(accesses) {
            step.value.clone_from(&access.value);
            step.part.clone_from(&access.part);
            step.key.clone_from(&access.key);
        }
    }
}

impl Marks {
    /// An event as a step: the one that tells of it already or, of another occurrence, like a step of its thread on the same variable, or of any
    /// thread.
    fn told_as(&self, event: &EventRef, told: &[FindingStep], threads: &[ThreadName]) -> Option<FindingStep> {
        let is_same = |told: &&FindingStep| told.event.is_some_and(|told| told.index == event.index);
        if let Some(same) = told.iter().find(is_same) {
            return Some(same.clone());
        }
        let mark = self.get(event.index)?;
        let of_variable = || told.iter().filter(|told| told.variable == mark.variable);
        let of_thread = |told: &&FindingStep| told.event.is_some_and(|told| told.thread == event.thread);
        let like = of_variable().find(of_thread).or_else(|| of_variable().next())?;
        let mut step = like.clone();
        if !of_thread(&like) {
            step.thread.clone_from(&threads.get(event.thread.index())?.name);
        }
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
        Some(step)
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
