//! Proof by directed runs: goals instead of whole schedules, for programs whose runs do not repeat themselves.
//!
//! A directed run lets the program run free and holds a few threads at a few places, so it costs little more than a plain run
//! and survives other orders of locks, buffers and pool threads. Several goals share a run, each finding gets its turn, and
//! code of the application comes first. A pattern that happened in two runs is confirmed; it is harmful if both runs had an
//! outcome that no run of the same units in any serial order had.

mod account;
mod derive;
mod places;

use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, Rule};
use ravel_protocol::goal::{Account, Goals, LogLine};
use ravel_trace::origin::is_platform;

use self::derive::{GoalsBuilder, pattern_goals, serial_goals};
pub use self::places::{Places, PlacesBuilder};
use crate::interrupt;

/// Goals that share a run: with more, their holds get in each other's way.
const GOALS_PER_RUN: usize = 6;
/// Runs that must have the pattern.
const WANTED_FACTS: usize = 2;
/// Runs in which a finding has a goal before it is given up.
const MOST_RUNS: usize = 6;
/// Occurrences of a finding that goals are made of.
const MOST_CANDIDATES: usize = 4;
/// Runs that may be spent on one serial order.
const MOST_SERIAL_RUNS: usize = 3;

/// Runs the program towards goals. A JVM is behind it, or in tests a fake.
pub trait DirectedRunner: Sync {
    /// One run.
    fn direct(&self, plan: &Goals) -> Result<DirectedRun>;
}

/// What a directed run came to.
#[derive(Clone, Debug)]
pub struct DirectedRun {
    /// How the program ended.
    pub status: ExitStatus,
    /// Whether it took so long that Ravel ended it.
    pub timed_out: bool,
    /// What the agent wrote.
    pub log: Vec<LogLine>,
}

impl DirectedRun {
    fn has_fact(&self, goal: &str) -> bool {
        self.log
            .iter()
            .any(|line| matches!(line, LogLine::Fact { goal: id, .. } if id == goal))
    }

    fn account(&self, goal: &str) -> Option<&Account> {
        self.log.iter().find_map(|line| match line {
            LogLine::Account(account) if account.goal == goal => Some(account),
            _ => None,
        })
    }

    /// How it ended, if that is worth a word.
    fn outcomes(&self) -> Vec<Outcome> {
        let mut all = Vec::new();
        for line in &self.log {
            match line {
                LogLine::Died { thread, exception } => all.push(Outcome {
                    kind: "exception".into(),
                    thread: Some(thread.clone()),
                    message: exception.clone(),
                }),
                LogLine::Deadlock { threads } => all.push(Outcome {
                    kind: "deadlock".into(),
                    thread: None,
                    message: format!("{} deadlock", threads.join(" and ")),
                }),
                _ => {}
            }
        }
        let deadlock = all.iter().any(|outcome| outcome.kind == "deadlock");
        if let Some(code) = self.status.code().filter(|_| !deadlock && !self.timed_out) {
            all.push(Outcome {
                kind: "exit".into(),
                thread: None,
                message: format!("the program ended with exit code {code}"),
            });
        }
        all
    }
}

/// What directed runs were made.
#[derive(Clone, Debug, Default)]
pub struct DirectedTally {
    /// How many.
    pub runs: usize,
    /// Findings that had a goal in one, by id.
    pub tried: Vec<String>,
    /// Why a finding did not get further: its id and the reason.
    pub reasons: Vec<(String, String)>,
}

/// A finding on its way.
struct Open {
    /// Its place in the list of findings.
    index: usize,
    candidates: Vec<Candidate>,
    runs: usize,
    facts: Vec<DirectedRun>,
    /// The occurrence that happened.
    happened: Option<Candidate>,
    /// Why no goal could be made.
    refused: Option<String>,
    /// How its goals fared, of all runs.
    accounts: Vec<Account>,
}

/// Directs the program towards the findings that are not confirmed yet, until the deadline.
pub fn direct(
    places: &Places,
    runner: &dyn DirectedRunner,
    findings: &mut [Finding],
    deadline: Instant,
) -> Result<DirectedTally> {
    let wanted = |finding: &Finding| finding.evidence < Evidence::Confirmed && !finding.candidates.is_empty();
    let mut order: Vec<usize> = (0..findings.len()).filter(|&index| wanted(&findings[index])).collect();
    order.sort_by_key(|&index| is_of_platform(&findings[index]));
    let mut open: Vec<Open> = order
        .iter()
        .map(|&index| Open {
            index,
            candidates: findings[index]
                .candidates
                .iter()
                .take(MOST_CANDIDATES)
                .cloned()
                .collect(),
            runs: 0,
            facts: Vec::new(),
            happened: None,
            refused: None,
            accounts: Vec::new(),
        })
        .collect();
    let mut tally = DirectedTally::default();
    let is_over = || Instant::now() >= deadline || interrupt::requested();
    while !is_over() {
        // Whoever had the fewest runs is next: every finding gets a first try before any gets its second.
        let mut next: Vec<usize> = (0..open.len()).filter(|&place| open[place].is_open()).collect();
        next.sort_by_key(|&place| open[place].runs);
        let mut plan = GoalsBuilder::new(tally.runs as u64 + 1);
        let mut chosen = Vec::new();
        for place in next {
            if plan.len() >= GOALS_PER_RUN {
                break;
            }
            let one = &mut open[place];
            let candidate = one.candidates[one.runs / 2 % one.candidates.len()].clone();
            match pattern_goals(findings[one.index].rule, &candidate, places) {
                Ok(goals) => {
                    for goal in &goals {
                        plan.add(&findings[one.index].id, goal);
                    }
                    chosen.push((place, candidate));
                }
                Err(why) => one.refuse(&candidate, why),
            }
        }
        if plan.is_empty() {
            break;
        }
        let run = runner.direct(&plan.finish())?;
        tally.runs += 1;
        for (place, candidate) in chosen {
            let one = &mut open[place];
            one.runs += 1;
            let id = &findings[one.index].id;
            one.accounts.extend(run.account(id).cloned());
            if run.has_fact(id) {
                // A second run must have the same occurrence.
                one.candidates = vec![candidate.clone()];
                one.happened = Some(candidate);
                one.facts.push(run.clone());
            }
        }
    }
    for one in &open {
        let finding = &mut findings[one.index];
        if one.runs > 0 {
            tally.tried.push(finding.id.clone());
        }
        let reason = if one.facts.len() >= WANTED_FACTS {
            confirm(finding, one, places, runner, &mut tally.runs, &is_over)?
        } else {
            one.why_not(places, is_over())
        };
        if !reason.is_empty() {
            // Why no schedule led there is still worth knowing if no goal did either.
            let before = finding.limit.take().filter(|_| finding.evidence < Evidence::Confirmed);
            let reason = before.map_or(reason.clone(), |before| format!("{before}; then {reason}"));
            finding.limit = Some(reason.clone());
            tally.reasons.push((finding.id.clone(), reason));
        }
    }
    Ok(tally)
}

/// Whether a finding is about variables of the JDK alone: the application's come first.
fn is_of_platform(finding: &Finding) -> bool {
    !finding.variables.is_empty() && finding.variables.iter().all(is_platform)
}

impl Open {
    fn is_open(&self) -> bool {
        self.facts.len() < WANTED_FACTS && self.runs < MOST_RUNS && !self.candidates.is_empty()
    }

    fn refuse(&mut self, candidate: &Candidate, why: String) {
        self.candidates.retain(|other| other != candidate);
        self.refused = Some(why);
    }

    /// Why the pattern did not happen twice.
    fn why_not(&self, places: &Places, out_of_time: bool) -> String {
        match (&self.refused, self.runs) {
            _ if !self.facts.is_empty() => {
                format!(
                    "a directed run had the pattern, {} others did not",
                    self.runs - self.facts.len()
                )
            }
            (Some(why), 0) => why.clone(),
            (None, 0) if out_of_time => "it was not tried: the time was used up (--budget)".into(),
            (None, 0) => String::new(),
            _ => account::why(&self.accounts, self.candidates.first(), places, self.runs),
        }
    }
}

/// The pattern happened twice: compares how these runs ended with serial runs of the same units. Why it is not harmful, empty
/// if it is.
fn confirm(
    finding: &mut Finding,
    one: &Open,
    places: &Places,
    runner: &dyn DirectedRunner,
    runs: &mut usize,
    is_over: &dyn Fn() -> bool,
) -> Result<String> {
    finding.evidence = Evidence::Confirmed;
    let bad: Vec<Outcome> = one.facts[0].outcomes();
    let shared = |outcome: &&Outcome| {
        one.facts
            .iter()
            .all(|run| run.outcomes().iter().any(|other| is_alike(other, outcome)))
    };
    let bad: Vec<Outcome> = bad.iter().filter(shared).cloned().collect();
    let notable = |outcome: &&Outcome| outcome.kind != "exit" || !outcome.message.ends_with(" 0");
    let worst = bad.iter().find(notable);
    finding.outcome = Some(worst.cloned().unwrap_or_else(|| Outcome {
        kind: "normal".into(),
        thread: None,
        message: "the pattern happened; this time it had no visible effect".into(),
    }));
    if finding.rule == Rule::LockOrder && worst.is_some_and(|outcome| outcome.kind == "deadlock") {
        // A deadlock needs the interleaving: no serial order of the critical sections has it.
        finding.evidence = Evidence::Harmful;
        return Ok(String::new());
    }
    let Some(worst) = worst else {
        return Ok("its directed runs ended without a visible effect".into());
    };
    let Some(candidate) = &one.happened else {
        return Ok(String::new());
    };
    let serial = serial_goals(finding.rule, candidate, places);
    if serial.is_empty() {
        return Ok("there is no pair of units to run in serial orders for comparison".into());
    }
    let orders = serial.len();
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, goal) in serial.iter().enumerate() {
        for _ in 0..MOST_SERIAL_RUNS {
            if is_over() {
                break;
            }
            let mut plan = GoalsBuilder::new(*runs as u64 + 1);
            plan.add("serial", goal);
            let run = runner.direct(&plan.finish())?;
            *runs += 1;
            if !run.has_fact("serial") {
                continue;
            }
            if run.outcomes().iter().any(|outcome| is_alike(outcome, worst)) {
                return Ok("a serial order of the units has the same outcome".into());
            }
            *seen.entry(number).or_default() += 1;
            break;
        }
    }
    if seen.len() < orders {
        return Ok(format!(
            "{} of {orders} serial orders could not be made for comparison",
            orders - seen.len()
        ));
    }
    finding.evidence = Evidence::Harmful;
    Ok(String::new())
}

/// The same kind of outcome: exceptions of the same class, the same exit code.
fn is_alike(one: &Outcome, other: &Outcome) -> bool {
    let class = |message: &str| message.split(':').next().unwrap_or_default().to_string();
    one.kind == other.kind
        && match one.kind.as_str() {
            "exception" => class(&one.message) == class(&other.message),
            "deadlock" => true,
            _ => one.message == other.message,
        }
}
