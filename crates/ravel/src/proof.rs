//! From findings to evidence: for each a schedule, forced twice, and compared with runs in which its units come one after
//! the other.
//!
//! A pattern that happens need not do harm in every run that has it: what the threads do next matters as well. So the
//! units are let run to their end in more than one order after it, a race is also forced the other way round, and
//! other occurrences are tried, until one does harm or enough were tried.

mod divergence;
mod harm;
mod marks;
mod prover;
mod runs;
mod stuck;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ravel_analysis::finding::{Evidence, Finding, Rule, UnitKind};
use ravel_schedule::{Image, Limits};
use ravel_trace::{ReadOptions, Reader};

use self::marks::Marks;
use self::prover::Prover;
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
    let attempt = |finding: &Finding| -> Result<Attempt> {
        let mut finding = finding.clone();
        let mut prover = Prover::new(&image, &runs, &marks, trace, deadline);
        prover.cut = cut;
        let outcome = prover.attempt(&mut finding, progress);
        finding.shown = is_shown(&finding);
        outcome.map(|()| Attempt {
            finding,
            disturbed: prover.disturbed,
            tally: prover.tally,
        })
    };
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Attempt>>>> = order.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(turn) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|turn| *turn < order.len()) {
            let result = attempt(&findings[order[turn]]);
            let known = result
                .as_ref()
                .map_or(&findings[order[turn]], |attempt| &attempt.finding);
            progress(Forcing::Ended(known));
            *results[turn].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    let jobs = program.side_by_side(budget.jobs).min(order.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    let (mut attempts, mut failed) = (Vec::new(), None);
    for (result, index) in results.into_iter().zip(order) {
        match result.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok(attempt)) => attempts.push((index, attempt)),
            Some(Err(error)) => failed = failed.or(Some(error)),
            None => {}
        }
    }
    runs.clear();
    for (index, first) in &mut attempts {
        let alone = jobs > 1 && first.disturbed && first.finding.evidence < Evidence::Harmful;
        if alone && Instant::now() < deadline && !interrupt::requested() {
            match attempt(&findings[*index]) {
                Ok(again) => first.take_better(again),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    let mut tally = Tally::default();
    if Instant::now() < deadline && !interrupt::requested() {
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
        let (mut kept, spent) = if other.finding.evidence > self.finding.evidence {
            (other.tally, std::mem::take(&mut self.tally))
        } else {
            (std::mem::take(&mut self.tally), other.tally)
        };
        kept.runs += spent.runs;
        kept.scheduling += spent.scheduling;
        kept.replaying += spent.replaying;
        kept.forced.extend(spent.forced);
        self.tally = kept;
        if other.finding.evidence > self.finding.evidence {
            self.finding = other.finding;
        }
    }
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
