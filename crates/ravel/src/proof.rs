//! From findings to evidence: for each a schedule, forced twice, and compared with runs in which its units come one after
//! the other.
//!
//! A pattern that happens need not do harm in every run that has it: what the threads do next matters as well. So the
//! units are let run to their end in more than one order after it, a race is also forced the other way round, and
//! other occurrences are tried, until one does harm or enough were tried.

mod divergence;
mod endings;
mod harm;
mod marks;
mod prover;
mod runs;
pub mod standstill;
mod stuck;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ravel_analysis::finding::{Evidence, Finding, Rule, UnitKind};
use ravel_schedule::{Image, Limits};
use ravel_trace::{ReadOptions, Reader};

use self::marks::Marks;
use self::prover::{Prover, Time};
use self::runs::Runs;
use crate::forcing::Program;
use crate::interrupt;
use crate::progress::Forcing;

/// Events of a recorded run up to which forced runs record everything; of longer ones, only what the findings are about.
const MOST_RECORDED: u64 = 1_000_000;

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// On all findings together.
    pub total: Duration,
    /// On one run of the program.
    pub run: Duration,
    /// Findings that are forced at the same time.
    pub jobs: usize,
}

/// What was tried.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Findings that had a schedule.
    pub scheduled: usize,
    /// Findings whose schedule was forced, by id.
    pub forced: BTreeSet<String>,
    /// Findings that happened.
    pub happened: usize,
    /// Runs of the program.
    pub runs: usize,
    /// Time spent on making schedules, of all threads that did.
    pub scheduling: Duration,
    /// Time spent on forced runs, of all threads that waited for one.
    pub replaying: Duration,
    /// Why a finding did not get further: its id and the reason.
    pub reasons: Vec<(String, String)>,
}

impl Tally {
    /// Adds what was tried elsewhere.
    pub fn add(&mut self, other: Tally) {
        self.scheduled += other.scheduled;
        self.forced.extend(other.forced);
        self.happened += other.happened;
        self.runs += other.runs;
        self.scheduling += other.scheduling;
        self.replaying += other.replaying;
        self.reasons.extend(other.reasons);
    }
}

/// What came of one finding.
struct Attempt {
    finding: Finding,
    tally: Tally,
    /// Whether a run went another way than its schedule.
    disturbed: bool,
    /// Whether more could have been tried with more time.
    cut_short: bool,
}

/// Makes schedules for the findings of a trace, forces them, and raises their evidence as far as it goes. Which finding is
/// forced first, and beside which others, changes nothing in what is known in the end: what did not go as planned while
/// other programs ran beside it is tried again alone.
pub fn prove(
    trace: &Path,
    findings: &mut Vec<Finding>,
    budget: Budget,
    progress: &(dyn Fn(Forcing<'_>) + Sync),
) -> Result<Tally> {
    interrupt::listen();
    let deadline = Instant::now() + budget.total;
    let open =
        || Reader::open(trace, ReadOptions::default()).with_context(|| format!("cannot read {}", trace.display()));
    let mut reader = open()?;
    let (image, cut) = Image::beginning(&mut reader, Limits::default())?;
    let mut program = Program::of(&reader, budget.run)?;
    let marks = Marks::read(&mut open()?, findings, &image)?;
    if marks.events > MOST_RECORDED {
        program.watch(marks.fields(), marks.methods());
    }
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&index| promise(&findings[index]));
    let runs = Runs::new(&program);
    let attempt = |finding: &Finding, share: Instant| -> Result<Attempt> {
        let mut finding = finding.clone();
        let time = Time { total: deadline, share };
        let mut prover = Prover::new(&image, &runs, &marks, trace, time);
        prover.cut = cut;
        let outcome = prover.attempt(&mut finding, progress);
        finding.shown = is_shown(&finding);
        outcome.map(|()| Attempt {
            finding,
            disturbed: prover.disturbed,
            cut_short: prover.cut_short,
            tally: prover.tally,
        })
    };
    let jobs = program.side_by_side(budget.jobs).min(order.len());
    // All of some findings, several at the same time; none takes the time of all others.
    let all = |order: &[usize], first: bool| -> Vec<(usize, Result<Attempt>)> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<Attempt>)>> = Mutex::new(Vec::new());
        let work = || {
            while let Some(turn) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|turn| *turn < order.len()) {
                let finding = &findings[order[turn]];
                let share = share(deadline, jobs, order.len() - turn, budget.run);
                let result = attempt(finding, share);
                if first {
                    progress(Forcing::Ended(
                        result.as_ref().map_or(finding, |attempt| &attempt.finding),
                    ));
                }
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                results.push((order[turn], result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner)
    };
    let is_time_left = || Instant::now() < deadline && !interrupt::requested();
    let (mut attempts, mut failed) = (BTreeMap::new(), None);
    for (index, result) in all(&order, true) {
        match result {
            Ok(attempt) => drop(attempts.insert(index, attempt)),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let is_cut_short = |index: &usize| {
        attempts
            .get(index)
            .is_some_and(|first: &Attempt| first.cut_short && first.finding.evidence < Evidence::Harmful)
    };
    let again: Vec<usize> = order.iter().copied().filter(is_cut_short).collect();
    if is_time_left() {
        for (index, result) in all(&again, false) {
            match (result, attempts.get_mut(&index)) {
                (Ok(again), Some(first)) => first.take_better(again),
                (Err(error), _) => failed = failed.or(Some(error)),
                (Ok(_), None) => {}
            }
        }
    }
    runs.clear();
    for index in &order {
        let Some(first) = attempts.get_mut(index) else { continue };
        let alone = jobs > 1 && first.disturbed && first.finding.evidence < Evidence::Harmful;
        if alone && is_time_left() {
            match attempt(&findings[*index], deadline) {
                Ok(again) => first.take_better(again),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    let mut tally = Tally::default();
    if is_time_left() {
        let (deadlock, made) = stuck::find(&marks, &runs)?;
        tally.runs += made;
        tally.forced.extend(deadlock.iter().map(|finding| finding.id.clone()));
        findings.extend(deadlock);
    }
    for (index, attempt) in attempts {
        findings[index] = attempt.finding;
        tally.add(attempt.tally);
    }
    failed.map_or(Ok(tally), Err)
}

impl Attempt {
    /// Of two attempts at one finding the better counts; both took time.
    fn take_better(&mut self, other: Attempt) {
        let evidence = self.finding.evidence;
        let better = other.finding.evidence > evidence || other.finding.evidence == evidence && self.cut_short;
        let spent = match better {
            true => std::mem::replace(&mut self.tally, other.tally),
            false => other.tally,
        };
        self.tally.runs += spent.runs;
        self.tally.scheduling += spent.scheduling;
        self.tally.replaying += spent.replaying;
        self.tally.forced.extend(spent.forced);
        self.disturbed |= other.disturbed;
        if better {
            self.finding = other.finding;
        }
    }
}

/// Until when the next finding may be tried if so many are left, this one included: one run at least.
fn share(deadline: Instant, jobs: usize, left: usize, run: Duration) -> Instant {
    let now = Instant::now();
    let each = deadline.saturating_duration_since(now) * jobs as u32 / left.max(1) as u32;
    (now + each.max(run / 2)).min(deadline)
}

/// Which findings to try first: what the code alone makes suspicious, then by rule and evidence.
fn promise(finding: &Finding) -> (bool, u8, std::cmp::Reverse<Evidence>) {
    let rule = match finding.rule {
        Rule::LockOrder => 0,
        Rule::Atomicity => 1,
        Rule::AtomicSet => 2,
        Rule::DataRace => 3,
        Rule::Unserializable => 4,
        _ => 5,
    };
    let supported = ravel_scan::confirm::is_supported(finding);
    (!supported, rule, std::cmp::Reverse(finding.evidence))
}

/// What the default view shows: harm, and what happened and rests on certain units or is a data race.
fn is_shown(finding: &Finding) -> bool {
    let certain = !finding.units.is_empty()
        && finding
            .units
            .iter()
            .all(|unit| matches!(unit.kind, UnitKind::Section | UnitKind::Declared));
    match finding.evidence {
        Evidence::Harmful => true,
        Evidence::Confirmed => finding.rule == Rule::DataRace || certain,
        _ => false,
    }
}
