//! Proof by directed runs: goals instead of whole schedules, for programs whose runs do not repeat themselves.
//!
//! A directed run lets the program run free and holds a few threads at a few places, so it costs little more than a plain run
//! and survives other orders of locks, buffers and pool threads. Several goals share a run, each finding gets its turn, and
//! code of the application comes first. A pattern that happened in two runs is confirmed; it is harmful if both runs had an
//! outcome that no run of the same units in any serial order had.

mod account;
mod derive;
mod judge;
mod observed;
mod places;
mod published;
mod ready;
mod rounds;
mod serial;
mod signals;
mod suspected;
mod tested;
#[cfg(test)]
mod tests;
mod told;

use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::account::DirectedAccount;
use ravel_analysis::finding::{Evidence, Finding, Outcome, OutcomeKind};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_protocol::goal::{Account, Goals, LogLine};

use self::judge::{Court, judge, judge_repeated};
pub use self::places::{Places, PlacesBuilder};
use self::rounds::WANTED_FACTS;
pub(crate) use self::rounds::{is_of_platform, is_undecided};
use crate::proof::Clock;
use crate::words::{self, last_lines};

/// Occurrences of a finding that goals are made of.
const MOST_CANDIDATES: usize = 4;

/// The time is over after so many parts.
const WHOLE: u32 = 24;
/// Runs towards patterns end after the first of these parts of the time, and judgements begin until after the second: controls must not take the time
/// of findings that were not tried yet, and what has happened must not wait for all the others.
const SHARES: [(u32, u32); 3] = [(8, 12), (16, WHOLE), (WHOLE, WHOLE)];

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
    /// Whether it stood still, or took so long that Ravel ended it.
    pub timed_out: bool,
    /// What the agent wrote.
    pub log: Vec<LogLine>,
    /// What the program wrote.
    pub output: Vec<u8>,
}

impl DirectedRun {
    fn has_fact(&self, goal: &str) -> bool {
        self.log
            .iter()
            .any(|line| matches!(line, LogLine::Fact { goal: id, .. } if id == goal))
    }

    /// How the goals of a finding fared.
    fn accounts<'r>(&'r self, goal: &'r str) -> impl Iterator<Item = &'r Account> {
        self.log.iter().filter_map(move |line| match line {
            LogLine::Account(account) if account.goal == goal => Some(account),
            _ => None,
        })
    }

    /// The longest hold that a goal took to happen, in milliseconds.
    fn longest_hold(&self, goal: &str) -> u64 {
        let of = |line: &LogLine| match line {
            LogLine::Fact {
                goal: id, held_millis, ..
            } if id == goal => *held_millis,
            _ => 0,
        };
        self.log.iter().map(of).max().unwrap_or(0)
    }

    /// How it ended, if that is worth a word.
    fn outcomes(&self) -> Vec<Outcome> {
        let mut all = Vec::new();
        for line in &self.log {
            match line {
                LogLine::Died {
                    thread,
                    exception,
                    stack,
                } => all.push(Outcome {
                    stack: stack.clone(),
                    ..Outcome::new(OutcomeKind::Exception, exception).of(thread)
                }),
                LogLine::Deadlock { threads } => {
                    let message = format!("{} wait for each other", words::threads(threads));
                    all.push(Outcome::new(OutcomeKind::Deadlock, message));
                }
                _ => {}
            }
        }
        let deadlock = all.iter().any(|outcome| outcome.kind == OutcomeKind::Deadlock);
        if let Some(code) = self.status.code().filter(|_| !deadlock && !self.timed_out) {
            let kind = if code == 0 {
                OutcomeKind::Normal
            } else {
                OutcomeKind::Exit
            };
            let idle = self.log.iter().any(|line| matches!(line, LogLine::Idle { .. }));
            all.push(Outcome::new(
                kind,
                match idle {
                    true => "only idle threads of a pool were left of the program".to_string(),
                    false => format!("the program ended with exit code {code}"),
                },
            ));
        }
        for outcome in all.iter_mut().filter(|outcome| outcome.kind != OutcomeKind::Normal) {
            outcome.printed = last_lines(&self.output);
        }
        all
    }
}

/// Of each run: the goals that happened in it, and how it ended.
type Ends = Mutex<Vec<(Vec<String>, Vec<Outcome>)>>;

/// The outcome of a program that did not end.
fn hang() -> Outcome {
    Outcome::new(OutcomeKind::Hang, "the program did not end")
}

/// A runner that adds up how long its runs take and remembers how they ended.
struct Watched<'r> {
    runner: &'r dyn DirectedRunner,
    micros: AtomicU64,
    ends: Ends,
}

impl DirectedRunner for Watched<'_> {
    fn direct(&self, plan: &Goals) -> Result<DirectedRun> {
        let begin = Instant::now();
        let run = self.runner.direct(plan)?;
        self.micros
            .fetch_add(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
        let goals = plan.goals.iter().map(|goal| goal.id.clone());
        let happened = goals.filter(|id| run.has_fact(id)).collect();
        let mut outcomes = run.outcomes();
        outcomes.extend(run.timed_out.then(hang));
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.push((happened, outcomes));
        Ok(run)
    }
}

/// What directed runs were made.
#[derive(Clone, Debug, Default)]
pub struct DirectedTally {
    /// How many.
    pub runs: usize,
    /// How long they took.
    pub time: Duration,
    /// Findings that had a goal in one, by id.
    pub tried: Vec<String>,
    /// Why a finding did not get further: its id and the reason.
    pub reasons: Vec<(String, Limit)>,
    /// How each goal of the findings fared.
    pub accounts: Vec<DirectedAccount>,
    /// How often the pattern of a finding happened again, and in how many runs: its id and both.
    pub again: Vec<(String, usize, usize)>,
}

/// Directs the program towards the findings that are not confirmed yet, until the deadline. What happened is tried so many times more, to say
/// how often it does.
pub fn direct(
    places: &Places,
    runner: &dyn DirectedRunner,
    findings: &mut [Finding],
    (clock, deadline): (&dyn Clock, Instant),
    repeats: usize,
) -> Result<DirectedTally> {
    let mut open = rounds::open(findings, places);
    let mut tally = DirectedTally::default();
    let watched = Watched {
        runner,
        micros: AtomicU64::new(0),
        ends: Mutex::new(Vec::new()),
    };
    let runner: &dyn DirectedRunner = &watched;
    let court = Court {
        places,
        runner,
        ends: &watched.ends,
        clock,
        deadline,
    };
    let begin = clock.now();
    let whole = deadline.saturating_duration_since(begin);
    for (of_rounds, of_judgement) in SHARES {
        let end = begin + whole * of_rounds / WHOLE;
        rounds::make(&mut open, findings, places, runner, (clock, end), &mut tally.runs)?;
        let end = begin + whole * of_judgement / WHOLE;
        for place in by_promise(&open) {
            // A judgement that has begun goes on to its end. When all time is over each begins, and says what there was no time for.
            if of_judgement < WHOLE && clock.now() >= end {
                break;
            }
            let one = &mut open[place];
            let finding = &mut findings[one.index];
            let reason = judge(finding, one, &court, &mut tally.runs)?;
            one.judged = true;
            tally.settle(finding, reason.into());
        }
    }
    for one in open.iter().filter(|one| one.judged) {
        let finding = &mut findings[one.index];
        let (happened, of) = court.again(finding, one, repeats, &mut tally.runs)?;
        if of > 0 {
            tally.again.push((finding.id.clone(), happened, of));
        }
        if finding.evidence == Evidence::Confirmed && !is_of_platform(finding) {
            judge_repeated(finding, one, &court, &mut tally.runs)?;
        }
        if finding.evidence == Evidence::Harmful {
            tally.reasons.retain(|(id, _)| *id != finding.id);
        }
    }
    let not_tried = match clock.is_interrupted() {
        true => Some(Limit::interrupted()),
        false => (clock.now() >= deadline).then(Limit::no_time),
    };
    for one in &open {
        let finding = &mut findings[one.index];
        if one.runs > 0 {
            tally.tried.push(finding.id.clone());
            tally.accounts.extend(one.accounts.told(&finding.id));
        }
        if !one.judged {
            let reason = one.why_not(not_tried.as_ref());
            tally.settle(finding, reason);
        }
    }
    tally.time = Duration::from_micros(watched.micros.load(Ordering::Relaxed));
    Ok(tally)
}

/// What has happened often enough and waits for its judgement: where all runs ended badly first, since that is what controls may show to be harm.
fn by_promise(open: &[rounds::Open]) -> Vec<usize> {
    let waits = |one: &rounds::Open| one.facts.len() >= WANTED_FACTS && !one.judged;
    let mut places: Vec<usize> = (0..open.len()).filter(|&place| waits(&open[place])).collect();
    places.sort_by_key(|&place| !judge::ended_badly(&open[place].facts));
    places
}

impl DirectedTally {
    /// Keeps why a finding did not get further.
    fn settle(&mut self, finding: &mut Finding, reason: Limit) {
        if reason.is_empty() {
            // Why no schedule had shown it before no longer matters.
            finding.limit = finding.limit.take().filter(|_| finding.evidence < Evidence::Harmful);
            return;
        }
        // Why no schedule led there is still worth knowing if no goal did either.
        let before = finding.limit.take().filter(|_| finding.evidence < Evidence::Confirmed);
        let reason = match before {
            Some(before) if !reason.has(LimitKind::NotTried) => before.then(reason),
            Some(before) => before,
            None => reason,
        };
        finding.limit = Some(reason.clone());
        self.reasons.push((finding.id.clone(), reason));
    }
}
