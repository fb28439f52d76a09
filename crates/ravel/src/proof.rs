//! From findings to evidence: for each a schedule, forced twice, and compared with runs in which its units come one after
//! the other.
//!
//! A pattern that happens need not do harm in every run that has it: what the threads do next matters as well. So the
//! units are let run to their end in more than one order after it, a race is also forced the other way round, and
//! other occurrences are tried, until one does harm or enough were tried.

mod divergence;
mod harm;
mod marks;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, Rule, UnitKind};
use ravel_schedule::{Effort, Goal, Image, Limits, Schedule, Shape, Verdict, generate, serial_schedules};
use ravel_trace::{ReadOptions, Reader};

use self::divergence::Shifts;
use self::harm::Serial;
use self::marks::Marks;
use crate::forcing::{Forced, Program};
use crate::interrupt;
use crate::progress::Forcing;

/// Occurrences of one finding that are tried before it is given up.
const MOST_CANDIDATES: usize = 24;
/// Occurrences that did not happen before it is given up.
const MOST_FAILURES: usize = 4;
/// Runs of one finding after which no further occurrence is tried.
const MOST_RUNS: usize = 48;
/// Points that a thread passes to be far ahead of the others.
const FAR: u32 = 2_000;
/// Orders of the units that are forced for comparison.
const MOST_ORDERS: usize = 4;

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

/// What it takes to prove one finding; several work side by side on the same trace.
struct Prover<'a> {
    image: &'a Image,
    program: &'a Program,
    marks: &'a Marks,
    trace: &'a Path,
    /// Numbers the runs of all provers.
    numbers: &'a AtomicUsize,
    tally: Tally,
    /// No run is begun after this.
    deadline: Instant,
    /// Serial runs made so far, with the schedules that they are of.
    serial: Vec<(Vec<Schedule>, Vec<Serial>)>,
}

/// Runs that had the pattern.
struct Happened {
    runs: Vec<Forced>,
    /// The schedule that they were forced into.
    schedule: Schedule,
    shifts: Shifts,
}

/// What came of one finding.
type Attempt = (Finding, Result<Tally>);

/// Makes schedules for the findings of a trace, forces them, and raises their evidence as far as it goes. Which finding is
/// forced first, and beside which others, changes nothing in what is known in the end.
pub fn prove(
    trace: &Path,
    findings: &mut [Finding],
    budget: Budget,
    progress: &(dyn Fn(Forcing<'_>) + Sync),
) -> Result<Tally> {
    interrupt::listen();
    let deadline = Instant::now() + budget.total;
    let open =
        || Reader::open(trace, ReadOptions::default()).with_context(|| format!("cannot read {}", trace.display()));
    let mut reader = open()?;
    let image = Image::build(&mut reader, Limits::default())?;
    let program = Program::of(&reader, budget.run)?;
    let marks = Marks::read(&mut open()?, findings, &image)?;
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&index| promise(&findings[index]));
    let (next, numbers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Option<Attempt>>> = order.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((turn, &index)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|turn| Some((turn, order.get(turn)?)))
        {
            let mut finding = findings[index].clone();
            let mut prover = Prover {
                image: &image,
                program: &program,
                marks: &marks,
                trace,
                numbers: &numbers,
                tally: Tally::default(),
                deadline,
                serial: Vec::new(),
            };
            let outcome = prover.attempt(&mut finding, progress);
            finding.shown = is_shown(&finding);
            progress(Forcing::Ended(&finding));
            let result = outcome.map(|()| prover.tally);
            *results[turn].lock().unwrap_or_else(PoisonError::into_inner) = Some((finding, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..program.side_by_side(budget.jobs).min(order.len()) {
            scope.spawn(work);
        }
    });
    let mut tally = Tally::default();
    let mut failed = None;
    for (result, index) in results.into_iter().zip(order) {
        let Some((finding, outcome)) = result.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            continue;
        };
        findings[index] = finding;
        match outcome {
            Ok(one) => tally.add(one),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(tally),
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

impl Prover<'_> {
    /// Forces a finding, if there is time for it.
    fn attempt(&mut self, finding: &mut Finding, progress: &(dyn Fn(Forcing<'_>) + Sync)) -> Result<()> {
        if interrupt::requested() {
            self.give_up(finding, "it was not tried: interrupted");
            return Ok(());
        }
        if self.is_over() {
            self.give_up(finding, "it was not tried: the time was used up (--budget)");
            return Ok(());
        }
        progress(Forcing::Begins(finding));
        self.finding(finding)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || interrupt::requested()
    }

    fn give_up(&mut self, finding: &mut Finding, reason: impl Into<String>) {
        let reason = reason.into();
        finding.limit = Some(reason.clone());
        self.tally.reasons.push((finding.id.clone(), reason));
    }

    fn finding(&mut self, finding: &mut Finding) -> Result<()> {
        let mut reason = "the trace has no occurrence of it that could be forced".to_string();
        let (mut scheduled, mut failures, mut happened) = (false, 0, false);
        for candidate in self.by_promise(finding) {
            if self.is_over() {
                reason = "the time was used up (--budget)".to_string();
                break;
            }
            if failures >= MOST_FAILURES || self.tally.runs >= MOST_RUNS {
                break;
            }
            let runs = self.tally.runs;
            match self.candidate(finding, &candidate, &mut scheduled)? {
                Ok(limit) => {
                    happened = true;
                    reason = limit;
                    if finding.evidence == Evidence::Harmful {
                        break;
                    }
                }
                Err(why) => {
                    // Only what was run costs time.
                    let tried = self.tally.runs > runs;
                    failures += usize::from(tried);
                    if !happened && (tried || failures == 0) {
                        reason = why;
                    }
                }
            }
        }
        self.tally.scheduled += usize::from(scheduled);
        self.tally.happened += usize::from(happened);
        if self.tally.runs > 0 {
            self.tally.forced.insert(finding.id.clone());
        }
        if !reason.is_empty() {
            self.give_up(finding, reason);
        }
        Ok(())
    }

    /// The occurrences to try: those of code that was not tried yet come first.
    fn by_promise(&self, finding: &Finding) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let mut all: Vec<(bool, &Candidate)> = finding
            .candidates
            .iter()
            .map(|candidate| {
                let sites = candidate.events.iter().map(|event| self.marks.get(event.index));
                let code: Vec<_> = sites.map(|mark| mark.map(|mark| (&mark.thread, &mark.site))).collect();
                (!seen.insert(code), candidate)
            })
            .collect();
        all.sort_by_key(|(again, _)| *again);
        let chosen = all.into_iter().take(MOST_CANDIDATES);
        chosen.map(|(_, candidate)| candidate.clone()).collect()
    }

    /// Forces one occurrence. Why it got no further if it happened (empty if there is no further), or why it did not happen.
    fn candidate(
        &mut self,
        finding: &mut Finding,
        candidate: &Candidate,
        scheduled: &mut bool,
    ) -> Result<Result<String, String>> {
        let mut candidate = candidate.clone();
        self.marks.add_units(&mut candidate);
        let Some(mut goal) = Goal::of_candidate(finding.rule, &candidate) else {
            return Ok(Err("the trace has no occurrence of it that could be forced".into()));
        };
        self.marks.add_ends(&candidate, &mut goal);
        let mut result = Err(String::new());
        for backwards in [false, true] {
            let (mut candidate, mut goal) = (candidate.clone(), goal.clone());
            if backwards {
                if goal.shape != Shape::Adjacent {
                    break;
                }
                candidate.events.reverse();
                candidate.owners.reverse();
                goal.events.reverse();
            }
            let start = Instant::now();
            let made = generate(self.image, &goal, &Effort::default());
            self.tally.scheduling += start.elapsed();
            let made = match made {
                Ok(made) => made,
                Err(error) if result.is_err() => {
                    result = Err(error.to_string());
                    continue;
                }
                Err(_) => continue,
            };
            *scheduled = true;
            if made.verdict == Verdict::Witnessed {
                finding.evidence = finding.evidence.max(Evidence::Witnessed);
            }
            for schedule in self.continuations(&candidate, &goal, &made.schedule) {
                if self.is_over() {
                    return Ok(result);
                }
                match self.confirm(&candidate, &goal, &schedule, result.is_err())? {
                    Ok(happened) => {
                        let schedule = happened.schedule.clone();
                        if result.is_err() && finding.evidence < Evidence::Confirmed {
                            finding.schedule = schedule.to_pairs();
                            self.retell(finding, &candidate);
                        }
                        let limit = self.judge(finding, &candidate, &goal, happened)?;
                        let harmful = finding.evidence == Evidence::Harmful;
                        result = Ok(limit);
                        if harmful {
                            finding.schedule = schedule.to_pairs();
                            self.retell(finding, &candidate);
                            return Ok(result);
                        }
                    }
                    Err(why) if result.is_err() => {
                        if finding.schedule.is_empty() {
                            finding.schedule = made.schedule.to_pairs();
                        }
                        result = Err(why);
                        // The pattern comes before what the threads do next: that would not change it.
                        break;
                    }
                    Err(_) => {}
                }
            }
        }
        Ok(result)
    }

    /// The schedule with the orders in which the threads may finish what they are in once the pattern has happened.
    fn continuations(&self, candidate: &Candidate, goal: &Goal, schedule: &Schedule) -> Vec<Schedule> {
        if goal.shape == Shape::Blocked {
            return vec![schedule.clone()];
        }
        let mut ends = Vec::new();
        for (place, event) in candidate.events.iter().enumerate().rev() {
            let known = ends.iter().any(|(thread, _)| *thread == event.thread);
            if let Some(leave) = self.marks.end_of(candidate, goal, place).filter(|_| !known) {
                ends.push((event.thread, leave));
            }
        }
        let with = |ends: &mut dyn Iterator<Item = &(ravel_trace::ThreadId, ravel_schedule::Leave)>| {
            let mut longer = schedule.clone();
            for (thread, leave) in ends {
                longer.run_out_of(&self.image.thread_names()[thread.index()], 0, *leave);
            }
            longer
        };
        // The thread of the last event first, then last: it has seen what the others have done, or they have yet to see it.
        let mut all = vec![with(&mut ends.iter())];
        if ends.len() > 1 {
            all.push(with(&mut ends.iter().rev()));
        }
        // One thread far ahead of the others.
        for (thread, _) in &ends {
            let mut longer = schedule.clone();
            longer.run_on(&self.image.thread_names()[thread.index()], FAR);
            all.push(longer);
        }
        all
    }

    /// Another occurrence happened than the one that the finding tells: tells that one.
    fn retell(&self, finding: &mut Finding, candidate: &Candidate) {
        if finding.steps.len() != candidate.events.len() {
            return;
        }
        let told: Vec<ravel_analysis::finding::Step> = finding.steps.clone();
        for (step, event) in finding.steps.iter_mut().zip(&candidate.events) {
            let Some(same) = told
                .iter()
                .find(|told| told.event.is_some_and(|told| told.index == event.index))
            else {
                let Some(mark) = self.marks.get(event.index) else {
                    continue;
                };
                let of_thread = |told: &&ravel_analysis::finding::Step| {
                    told.event.is_some_and(|told| told.thread == event.thread) && told.variable == mark.variable
                };
                let Some(like) = told.iter().find(of_thread) else {
                    continue;
                };
                *step = like.clone();
                step.op = mark.op.to_string();
                (step.class, step.method, step.file, step.line) = mark.place.clone();
                step.event = Some(*event);
                continue;
            };
            *step = same.clone();
        }
    }

    fn run(&mut self, schedule: &Schedule) -> Result<Forced> {
        self.tally.runs += 1;
        let start = Instant::now();
        let run = self
            .program
            .force(schedule, self.numbers.fetch_add(1, Ordering::Relaxed));
        self.tally.replaying += start.elapsed();
        run
    }

    /// Two runs out of two must have the pattern. With `first`, the schedule has not been tried yet.
    fn confirm(
        &mut self,
        candidate: &Candidate,
        goal: &Goal,
        schedule: &Schedule,
        first: bool,
    ) -> Result<Result<Happened, String>> {
        let mut runs = Vec::new();
        let mut retry = first;
        let mut schedule = schedule.clone();
        let mut shifts = Shifts::default();
        let wanted = if first { 2 } else { 1 };
        while runs.len() < wanted {
            let run = self.run(&schedule)?;
            match self.happened(candidate, goal, &shifts, &run) {
                Ok(()) => runs.push(run),
                // The first try may meet classes that are not loaded yet, or a machine that was busy; or the threads pass
                // other points than they did when they were recorded, which is then known.
                Err(_) if retry && runs.is_empty() => {
                    retry = false;
                    if let Some(learnt) = divergence::learn(self.trace, &schedule, &run) {
                        (schedule, shifts) = learnt;
                    }
                }
                Err(why) => {
                    let place = divergence::first(self.trace, &schedule, &run);
                    return Ok(Err(place.map_or(why.clone(), |place| format!("{why}: {place}"))));
                }
            }
        }
        Ok(Ok(Happened { runs, schedule, shifts }))
    }

    /// Whether a run had the candidate's events, by the same threads at the same places, in the wanted order.
    fn happened(&self, candidate: &Candidate, goal: &Goal, shifts: &Shifts, run: &Forced) -> Result<(), String> {
        if goal.shape == Shape::Blocked {
            return match run.deadlock() {
                Some(_) => Ok(()),
                None if run.complete() => Err("the threads did not block each other".into()),
                None => Err(format!("the run left the schedule: {}", failure(run))),
            };
        }
        let slipped = |why: String| match run.slip() {
            Some(slip) => format!("the run left the schedule: {slip}"),
            None => why,
        };
        let Some((events, names)) = &run.trace else {
            return Err(format!("the run left no trace: {}", failure(run)));
        };
        // Turns after the pattern may be cut short by the program's end.
        let found = match self.marks.find(candidate, shifts, events, names) {
            Ok(found) => found,
            Err(_) if !run.complete() => return Err(format!("the run left the schedule: {}", failure(run))),
            Err(why) => return Err(slipped(why)),
        };
        if found.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(slipped("the accesses came in another order".into()));
        }
        let first = events[found[0]].op.location();
        if goal.shape == Shape::Adjacent && events[found[found.len() - 1]].op.location() != first {
            return Err("the accesses were of different objects".into());
        }
        Ok(())
    }

    /// Compares what happened with what serial orders of the units give. Why it is not harmful, empty if it is.
    fn judge(
        &mut self,
        finding: &mut Finding,
        candidate: &Candidate,
        goal: &Goal,
        happened: Happened,
    ) -> Result<String> {
        let Happened {
            mut runs,
            schedule,
            shifts,
        } = happened;
        if finding.evidence < Evidence::Confirmed {
            finding.evidence = Evidence::Confirmed;
            finding.outcome = Some(Outcome {
                kind: "normal".into(),
                thread: None,
                message: "the forced run ended as any other".into(),
            });
        }
        let outcome = if let Some(threads) = runs[0].deadlock() {
            Some(Outcome {
                kind: "deadlock".into(),
                thread: None,
                message: format!("{threads} wait for each other for ever"),
            })
        } else {
            let serial = self.serial(goal)?;
            let serial = &self.serial[serial].1;
            if serial.is_empty() {
                return Ok("no serial order of the units could be forced, so nothing is known of harm".into());
            }
            harm::harm(self.marks, candidate, &runs, serial)
        };
        if outcome.is_none() {
            return Ok("its forced runs ended as a serial order of the units ends".into());
        }
        if runs.len() < 2 {
            runs.push(self.run(&schedule)?);
            if self.happened(candidate, goal, &shifts, &runs[1]).is_err() {
                return Ok("a run that did harm could not be had twice".into());
            }
        }
        let outcome = match (runs[0].deadlock(), runs.iter().all(|run| run.deadlock().is_some())) {
            (Some(_), true) => outcome,
            (Some(_), false) => None,
            (None, _) => {
                let serial = self.serial(goal)?;
                harm::harm(self.marks, candidate, &runs, &self.serial[serial].1)
            }
        };
        match outcome {
            Some(outcome) => {
                finding.evidence = Evidence::Harmful;
                finding.outcome = Some(outcome);
                Ok(String::new())
            }
            None => Ok("a run that did harm could not be had twice".into()),
        }
    }

    /// Forced runs of the units one after the other: the number of the set of them.
    fn serial(&mut self, goal: &Goal) -> Result<usize> {
        let start = Instant::now();
        let mut schedules: Vec<Schedule> = serial_schedules(self.image, goal, &Effort::default())
            .into_iter()
            .map(|serial| serial.schedule)
            .take(MOST_ORDERS)
            .collect();
        self.tally.scheduling += start.elapsed();
        if schedules.is_empty() {
            // No units to put in order: the program as it runs by itself.
            schedules.push(Schedule::default());
        }
        if let Some(known) = self.serial.iter().position(|(known, _)| *known == schedules) {
            return Ok(known);
        }
        let mut serial = Vec::new();
        for schedule in &schedules {
            if self.is_over() {
                break;
            }
            let pair = [self.run(schedule)?, self.run(schedule)?];
            if pair.iter().all(Forced::complete) {
                serial.push(pair);
            }
        }
        self.serial.push((schedules, serial));
        Ok(self.serial.len() - 1)
    }
}

fn failure(run: &Forced) -> String {
    let reason = match run.verdict.strip_prefix("failed ") {
        Some(reason) => reason.to_string(),
        None if run.hung() => "it took too long".to_string(),
        None => format!("it ended with {}", run.status),
    };
    if run.remark.is_empty() {
        reason
    } else {
        format!("{reason} ({})", run.remark)
    }
}
