//! The findings of many runs, kept by id: when each was first and last seen, how its evidence changed, and which are gone.
//!
//! `store` keeps them; this module says what they mean; `view` shows them. Only runs of the same program that were complete and saw
//! events speak against a finding: a run that was cut short says nothing about what it did not reach.

mod store;
mod view;

use ravel_analysis::finding::{Evidence, Finding, Rule};

use crate::config::Day;

pub use self::store::{Added, History, HistoryError};

/// One run of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptRun {
    /// From 1, in the order in which they were added.
    pub number: i64,
    /// The day of the run.
    pub day: Day,
    /// The recorded command line.
    pub program: String,
    /// Whether it says something of findings that it does not have.
    pub counts: bool,
}

/// How far a finding got in one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The run's number.
    pub run: i64,
    /// The evidence in it.
    pub evidence: Evidence,
    /// Whether it was shown.
    pub shown: bool,
}

/// A finding over all runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptFinding {
    /// Its id.
    pub id: String,
    /// The kind of bug.
    pub rule: Rule,
    /// Where it is, `Stock.java:14`; empty if unknown.
    pub place: String,
    /// The program that it was seen in last.
    pub program: String,
    /// One sentence, as in the last run that had it.
    pub message: String,
    /// The runs that had it, oldest first; at least one.
    pub seen: Vec<Seen>,
    /// The first run since which no complete run of the program has had it, and how many of these there were.
    pub gone: Option<(KeptRun, usize)>,
}

impl KeptFinding {
    /// The evidence over time: each level with the number of the run that first had it after another one.
    pub fn levels(&self) -> Vec<Seen> {
        let mut levels: Vec<Seen> = Vec::new();
        for seen in &self.seen {
            if levels.last().is_none_or(|last| last.evidence != seen.evidence) {
                levels.push(*seen);
            }
        }
        levels
    }

    /// Whether some run showed it.
    pub fn was_shown(&self) -> bool {
        self.seen.iter().any(|seen| seen.shown)
    }
}

/// The first run after the last that had a finding, among those that count, and how many there are.
fn gone(runs: &[KeptRun], program: &str, last: i64) -> Option<(KeptRun, usize)> {
    let mut later = runs
        .iter()
        .filter(|run| run.counts && run.number > last && run.program == program);
    let first = later.next()?.clone();
    Some((first, 1 + later.count()))
}

/// Where a finding is, for a table.
fn place(finding: &Finding) -> String {
    let step = finding.steps.iter().find(|step| !step.file.is_empty());
    step.map_or_else(String::new, |step| format!("{}:{}", step.file, step.line))
}

#[cfg(test)]
mod tests;
