//! A recorded run that deadlocked: it deadlocks again without a schedule.
//!
//! The trace of such a run has the locks that the threads acquired, but not those that they blocked on; so no analysis sees the
//! cycle. But at its end some threads still hold locks, and a second run of the program with its locks watched shows the rest.

use std::collections::BTreeSet;

use anyhow::Result;
use ravel_analysis::finding::{Evidence, Finding, FindingStep, Outcome, OutcomeKind, Rule};
use ravel_analysis::merge::fingerprint;
use ravel_schedule::Schedule;
use ravel_trace::naming;

use super::marks::{HeldAtEnd, Marks};
use super::runs::Runs;
use crate::words;

/// The deadlock that the program runs into by itself, in two runs out of two, if threads of the recorded run held locks when it
/// ended; and how many runs that took.
pub fn find(marks: &Marks, runs: &Runs<'_>) -> Result<(Option<Finding>, usize)> {
    let threads: BTreeSet<&str> = marks.held.iter().map(|held| held.thread.as_str()).collect();
    if threads.len() < 2 {
        return Ok((None, 0));
    }
    let mut circle = None;
    for number in 0..2 {
        let (run, _) = runs.get(&Schedule::default(), number)?;
        match run.deadlock() {
            Some(threads) => circle = Some(threads.to_vec()),
            None => return Ok((None, number + 1)),
        }
    }
    Ok((circle.map(|circle| finding(&circle, &marks.held)), 2))
}

fn finding(circle: &[String], held: &[HeldAtEnd]) -> Finding {
    let mut own: Vec<&HeldAtEnd> = held.iter().filter(|held| circle.contains(&held.thread)).collect();
    let circle = words::threads(circle);
    if own.is_empty() {
        own = held.iter().collect();
    }
    let several = |name: &str| own.iter().filter(|held| held.name == name).count() > 1;
    let numbered = |held: &HeldAtEnd| {
        if !several(&held.name) {
            return held.name.clone();
        }
        let mut same: Vec<_> = own
            .iter()
            .filter(|other| other.name == held.name)
            .map(|other| other.lock)
            .collect();
        same.sort_unstable();
        let number = same.iter().position(|lock| *lock == held.lock).unwrap_or(0) + 1;
        naming::lock::numbered(&held.name, number)
    };
    let steps: Vec<FindingStep> = own
        .iter()
        .map(|held| {
            let (class, method, file, line) = held.place.clone();
            FindingStep {
                thread: held.thread.clone(),
                op: "acquire".into(),
                variable: numbered(held),
                class,
                method,
                file,
                line,
                locks: vec![numbered(held)],
                ..FindingStep::default()
            }
        })
        .collect();
    let mut variables: Vec<String> = own.iter().map(|held| held.name.clone()).collect();
    variables.sort_unstable();
    variables.dedup();
    let hold = |held: &&HeldAtEnd| format!("{} holds {}", held.thread, naming::lock::short(&numbered(held)));
    let holds: Vec<String> = own.iter().map(hold).collect();
    let mut code: Vec<String> = own
        .iter()
        .map(|held| format!("{}.{}", held.place.0, held.place.1))
        .collect();
    code.sort_unstable();
    code.dedup();
    let parts = std::iter::once("deadlock").chain(variables.iter().map(String::as_str));
    let id = fingerprint(parts.chain(code.iter().map(String::as_str)));
    Finding {
        shown: true,
        analyses: vec!["replay".into()],
        message: format!("{circle} deadlock: {}.", holds.join(", ")),
        help: "Acquire the locks in the same order everywhere.".into(),
        variables,
        steps,
        outcome: Some(Outcome::new(
            OutcomeKind::Deadlock,
            format!("{circle} wait for each other"),
        )),
        ..Finding::new(id, Rule::LockOrder, Evidence::Harmful)
    }
}
