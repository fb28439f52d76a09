//! The steps of a finding as its pattern happened in a directed run: which threads took them, and which numbers they saw.

use ravel_analysis::finding::{Candidate, Finding, FindingStep};
use ravel_protocol::goal::LogLine;
use ravel_trace::naming;

use super::DirectedRun;

/// The steps of a suspicion as they happened: it knows the code, and the run the threads.
pub fn name_steps(finding: &mut Finding, run: &DirectedRun) {
    let of = |line: &LogLine| match line {
        LogLine::Fact { goal, steps, .. } if *goal == finding.id => Some(steps.clone()),
        _ => None,
    };
    let passed = run.log.iter().find_map(of).unwrap_or_default();
    let by = |step: &FindingStep, thread: &str| FindingStep {
        thread: thread.to_string(),
        ..step.clone()
    };
    match (finding.steps.as_slice(), passed.as_slice()) {
        ([test, act], [first, second, third]) => {
            finding.steps = vec![by(test, &first.thread), by(act, &second.thread), by(act, &third.thread)];
            finding.patterns = vec!["R W' W".to_string()];
        }
        ([read, write], [first, second]) => {
            finding.steps = vec![by(read, &first.thread), by(write, &second.thread)];
        }
        _ => {}
    }
}

/// The numbers that the steps of an interruption read and wrote, if the finding tells the occurrence that happened.
pub fn tell_values(finding: &mut Finding, candidate: &Candidate, run: &DirectedRun) {
    let of = |line: &LogLine| match line {
        LogLine::Fact { goal, steps, .. } if *goal == finding.id => Some(steps.clone()),
        _ => None,
    };
    let passed = run.log.iter().find_map(of).unwrap_or_default();
    let events = finding.steps.iter().map(|step| step.event.map(|event| event.index));
    let is_told = events.eq(candidate.events.iter().map(|event| Some(event.index)));
    if !is_told || passed.len() != finding.steps.len() || !finding.rule.family().is_interruption() {
        return;
    }
    for (step, passed) in finding.steps.iter_mut().zip(passed) {
        let is_number = |kind: &u8| matches!(kind, b'I' | b'J' | b'S' | b'B' | b'C' | b'Z');
        let kind = step.descriptor.bytes().next().filter(is_number);
        // A write whose hook saw a value before it is one; a read has none.
        let is_same = passed.before.is_some() == (step.op == "write") && step.inside.is_none();
        if let (Some(kind), Some(value), true) = (kind, passed.value, is_same) {
            step.value = Some(naming::number_text(kind, value));
        }
    }
}
