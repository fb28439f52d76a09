//! From findings to evidence: for each a schedule, forced twice, and compared with runs in which its units come one after
//! the other.
//!
//! A pattern that happens need not do harm in every run that has it: what the threads do next matters as well. So the
//! units are let run to their end in more than one order after it, a race is also forced the other way round, and
//! other occurrences are tried, until one does harm or enough were tried.

mod clock;
mod controls;
mod divergence;
mod endings;
mod equivalent;
mod harm;
mod judgement;
mod marks;
mod noticed;
mod objects;
mod ordered;
mod others;
mod printed;
mod prover;
mod reading;
mod reports;
mod retell;
mod runs;
mod serial;
pub mod standstill;
mod stuck;
mod surroundings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::account::DirectedAccount;
use ravel_analysis::finding::{Evidence, Finding, Rule, RuleFamily, UnitKind};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_schedule::Image;
use ravel_trace::Trace;
use ravel_trace::origin::is_platform;

pub(crate) use self::clock::Clock;
use self::clock::WallClock;
use self::divergence::RecordedPath;
use self::marks::Marks;
use self::prover::{Prover, Time};
use self::runs::Runs;
use crate::directed;
use crate::failures::FailedRun;
use crate::interrupt;
use crate::jvm::JvmRunner;
use crate::observer::{Observer, Progress, ProgressLine, Work};
use crate::runner::Runner;
use crate::shares::Share;

/// Events of a recorded run up to which forced runs record everything; of longer ones, only what the findings are about.
const MOST_RECORDED: u64 = 1_000_000;

/// Events of a recorded run up to which whole schedules are tried first. Longer runs seldom repeat themselves to the event.
const MOST_REPEATED: u64 = 20_000;

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// On all findings together.
    pub total: Duration,
    /// On one run of the program.
    pub run: Duration,
    /// Findings that are forced at the same time.
    pub jobs: usize,
    /// Directed runs that say how often a pattern that happened does so again.
    pub repeats: usize,
}

impl Default for Budget {
    /// As the command line has it.
    fn default() -> Self {
        Budget {
            total: Duration::from_secs(300),
            run: Duration::from_secs(30),
            jobs: ravel_analysis::analyse::cores(),
            repeats: 0,
        }
    }
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
    /// Runs that were not made, since they would have been the same as others.
    pub spared: usize,
    /// Time spent on making schedules, of all threads that did.
    pub scheduling: Duration,
    /// Time spent on forced runs, of all threads that waited for one.
    pub replaying: Duration,
    /// Time spent on directed runs.
    pub directing: Duration,
    /// How many these were.
    pub directed_runs: usize,
    /// Why a finding did not get further: its id and the reason.
    pub reasons: Vec<(String, Limit)>,
    /// How the goals of directed runs fared.
    pub accounts: Vec<DirectedAccount>,
    /// How often the pattern of a finding happened again, and in how many directed runs: its id and both.
    pub again: Vec<(String, usize, usize)>,
    /// What went wrong in runs of the program.
    pub failed: Vec<FailedRun>,
}

impl Tally {
    /// Adds what was tried elsewhere.
    pub fn add(&mut self, other: Tally) {
        self.scheduled += other.scheduled;
        self.forced.extend(other.forced);
        self.happened += other.happened;
        self.runs += other.runs;
        self.spared += other.spared;
        self.scheduling += other.scheduling;
        self.replaying += other.replaying;
        self.directing += other.directing;
        self.directed_runs += other.directed_runs;
        self.reasons.extend(other.reasons);
        self.accounts.extend(other.accounts);
        self.again.extend(other.again);
        self.failed.extend(other.failed);
    }
}

/// The recorded run, as proof needs it.
pub(crate) struct Recorded<'t> {
    /// For schedules.
    image: Image,
    /// How many of the trace's events schedules are made of, if not of all.
    cut: Option<u64>,
    /// The events of the findings.
    marks: Marks,
    /// Where in code those of the first occurrences lie, for directed runs.
    places: directed::Places,
    /// What the threads passed, to compare with forced runs.
    path: RecordedPath<'t>,
}

/// How many findings were tried and happened, on the line of progress.
struct ForcingLine<'o> {
    line: Box<dyn ProgressLine + 'o>,
    total: usize,
    tried: AtomicUsize,
    happened: AtomicUsize,
}

impl<'o> ForcingLine<'o> {
    fn new(observer: &'o dyn Observer, total: usize) -> ForcingLine<'o> {
        ForcingLine {
            line: observer.begin(Work::Alone),
            total,
            tried: AtomicUsize::new(0),
            happened: AtomicUsize::new(0),
        }
    }

    fn begins(&self, current: &Finding) {
        self.line.show(&Progress::Forcing {
            tried: self.tried.load(Ordering::Relaxed),
            total: self.total,
            happened: self.happened.load(Ordering::Relaxed),
            current,
        });
    }

    fn ended(&self, finding: &Finding) {
        self.tried.fetch_add(1, Ordering::Relaxed);
        let happened = usize::from(finding.evidence >= Evidence::Confirmed);
        self.happened.fetch_add(happened, Ordering::Relaxed);
        self.begins(finding);
    }
}

/// What came of one finding.
struct Attempt {
    finding: Finding,
    tally: Tally,
    /// Whether a run went another way than its schedule.
    disturbed: bool,
    /// Whether its own runs went on side by side.
    beside: bool,
    /// Whether more could have been tried with more time.
    cut_short: bool,
}

/// Makes schedules for the findings of a trace, forces them, and raises their evidence as far as it goes. Which finding is
/// forced first, and beside which others, changes nothing in what is known in the end: what did not go as planned while
/// other programs ran beside it is tried again alone.
/// What the scan suspects of the code and a directed run shows becomes a finding. Of a share, only what it tries is tried of that.
pub fn prove(
    trace: &mut Trace,
    findings: &mut Vec<Finding>,
    (suspicions, share): (&[Finding], Option<&Share>),
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Tally> {
    interrupt::listen();
    let deadline = WallClock.now() + budget.total;
    let mut program = JvmRunner::of(trace.reader(), budget.run)?;
    trace.rewind();
    let is_over = || WallClock.now() >= deadline;
    let go_on = || !interrupt::requested() && !is_over();
    let recorded = match Recorded::read(trace, (findings, suspicions), Trace::events, go_on) {
        Err(_) if interrupt::requested() => return Ok(not_tried(findings, &Limit::interrupted())),
        Err(_) if is_over() => return Ok(not_tried(findings, &Limit::no_time())),
        recorded => recorded?,
    };
    // Reading a trace of many events takes its part of the time.
    let left = || deadline.saturating_duration_since(WallClock.now());
    if recorded.marks.events > MOST_RECORDED {
        program.watch(recorded.marks.fields(), recorded.marks.methods());
    }
    // Schedules of all but short runs, and of programs that talk over sockets, are lost as soon as one lock is taken or one message comes in
    // another order: there goals come first.
    let long = recorded.marks.events > MOST_RECORDED;
    let first = recorded.marks.events > MOST_REPEATED || recorded.places.uses_sockets();
    let mut tally = Tally::default();
    let mut suspected = suspected(&recorded.places, suspicions);
    let is_wanted = |finding: &&Finding| share.is_none_or(|share| share.tries.contains(&finding.id));
    suspected.extend(recorded.places.unfounded().filter(is_wanted).cloned());
    if first {
        let end = WallClock.now() + left() * 5 / 6;
        direct_rest(
            (&recorded.places, &program),
            findings,
            &mut suspected,
            (end, budget.repeats),
            &mut tally,
        )?;
    }
    // What has happened needs no schedule, and a schedule that is lost would say nothing against it. In a short program a schedule may
    // still show harm.
    let enough = if long { Evidence::Confirmed } else { Evidence::Harmful };
    let (happened, open): (Vec<Finding>, Vec<Finding>) = std::mem::take(findings)
        .into_iter()
        .partition(|finding| finding.evidence >= enough);
    *findings = open;
    let confirmed: BTreeMap<String, Finding> = findings
        .iter()
        .filter(|finding| finding.evidence >= Evidence::Confirmed)
        .map(|finding| (finding.id.clone(), finding.clone()))
        .collect();
    let directed: BTreeMap<String, Limit> = findings
        .iter_mut()
        .filter_map(|finding| Some((finding.id.clone(), finding.limit.take()?)))
        .collect();
    let schedules_end = if first { deadline } else { WallClock.now() + left() / 2 };
    program.end_by(schedules_end);
    let forced = prove_with(
        &recorded,
        &program,
        findings,
        budget,
        (&WallClock, schedules_end),
        observer,
    )?;
    tally.add(forced);
    for finding in findings.iter_mut() {
        if let Some(before) = confirmed
            .get(&finding.id)
            .filter(|_| finding.evidence < Evidence::Harmful)
        {
            *finding = before.clone();
            tally.reasons.retain(|(id, _)| *id != finding.id);
        }
    }
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.evidence < Evidence::Confirmed)
    {
        if let Some(why) = directed.get(&finding.id) {
            tell_both(finding, why.clone());
            tally.reasons.retain(|(id, _)| *id != finding.id);
            tally
                .reasons
                .push((finding.id.clone(), finding.limit.clone().unwrap_or_default()));
        }
    }
    program.end_by(deadline);
    if !first {
        direct_rest(
            (&recorded.places, &program),
            findings,
            &mut suspected,
            (deadline, budget.repeats),
            &mut tally,
        )?;
    }
    findings.extend(happened);
    suspected.retain(|finding| finding.rule != Rule::NakedNotify || !is_told(finding, findings));
    findings.append(&mut suspected);
    // What happened both in a directed run and under a schedule is one finding.
    let happened = findings
        .iter()
        .filter(|finding| finding.evidence >= Evidence::Confirmed);
    tally.happened = tally.happened.min(happened.count());
    Ok(tally)
}

/// What [`prove`] tries of a trace beside its findings: what the scan suspects and the trace went through, and what no analysis finds.
pub fn untold(trace: &mut Trace, findings: &[Finding], suspicions: &[Finding]) -> Result<Vec<Finding>> {
    trace.rewind();
    let recorded = Recorded::read(trace, (findings, suspicions), Trace::events, || !interrupt::requested())?;
    let mut untold = suspected(&recorded.places, suspicions);
    untold.extend(recorded.places.unfounded().cloned());
    Ok(untold)
}

/// Whether a shown finding has a step in the methods of this one, so that the report tells one bug once.
pub(crate) fn is_told(finding: &Finding, others: &[Finding]) -> bool {
    let mut steps = others
        .iter()
        .filter(|other| is_shown(other))
        .flat_map(|other| &other.steps);
    steps.any(|step| {
        let mut own = finding.steps.iter();
        own.any(|own| own.class == step.class && own.method == step.method)
    })
}

/// Says why directed runs did not have a pattern, and then why a schedule did not, if one was tried.
fn tell_both(finding: &mut Finding, directed: Limit) {
    let tried = |why: &Limit| !why.has(LimitKind::NotTried);
    finding.limit = Some(match finding.limit.take().filter(tried) {
        Some(schedule) => directed.then(schedule),
        None => directed,
    });
}

/// What the scan suspects and a thread of the recorded run went through, as goals are made of it: the units are assumed to be atomic.
fn suspected(places: &directed::Places, suspicions: &[Finding]) -> Vec<Finding> {
    let mut all = Vec::new();
    for suspicion in suspicions {
        if let Some(candidate) = places.suspected(&suspicion.id) {
            let mut finding = suspicion.clone();
            finding.units.iter_mut().for_each(|unit| unit.kind = UnitKind::Compound);
            finding.candidates = vec![candidate.clone()];
            finding.shown = false;
            all.push(finding);
        }
    }
    all
}

/// What is known of findings that were not tried, for this reason.
fn not_tried(findings: &mut [Finding], why: &Limit) -> Tally {
    let mut tally = Tally::default();
    for finding in findings {
        finding.limit = Some(why.clone());
        tally.reasons.push((finding.id.clone(), why.clone()));
    }
    tally
}

/// Directs the program towards what no schedule has confirmed, and towards what the scan suspects; only what happened stays of the latter.
fn direct_rest(
    (places, program): (&directed::Places, &JvmRunner),
    findings: &mut Vec<Finding>,
    suspected: &mut Vec<Finding>,
    (deadline, repeats): (Instant, usize),
    tally: &mut Tally,
) -> Result<()> {
    let known = findings.len();
    findings.append(suspected);
    let undecided: Vec<Finding> = findings
        .iter()
        .filter(|one| directed::is_undecided(one))
        .cloned()
        .collect();
    let directed = directed::direct(places, program, findings, (&WallClock, deadline), repeats);
    // Schedules are not for them: they have a thread that was not recorded.
    *suspected = findings.split_off(known);
    let mut directed = directed?;
    // Findings that directed runs did not decide either keep the result of the schedules.
    for before in undecided {
        let place = findings
            .iter_mut()
            .find(|one| one.id == before.id && one.evidence < Evidence::Harmful);
        if let Some(finding) = place {
            directed.reasons.retain(|(id, _)| *id != before.id);
            *finding = before;
        }
    }
    suspected.retain(|finding| finding.evidence >= least_evidence(finding.rule));
    tally.runs += directed.runs;
    tally.directed_runs += directed.runs;
    tally.directing += directed.time;
    let all = findings.iter_mut().chain(suspected);
    for finding in all.filter(|finding| directed.tried.contains(&finding.id)) {
        finding.shown = is_shown(finding);
        if finding.evidence >= Evidence::Confirmed {
            tally.happened += 1;
            tally.reasons.retain(|(id, _)| *id != finding.id);
        }
    }
    tally.forced.extend(directed.tried);
    tally.accounts.extend(directed.accounts);
    tally.again.extend(directed.again);
    for (id, reason) in directed.reasons {
        tally.reasons.retain(|(other, _)| *other != id);
        tally.reasons.push((id, reason));
    }
    Ok(())
}

/// The evidence with which a suspicion becomes a finding of the run.
fn least_evidence(rule: Rule) -> Evidence {
    match rule {
        // That a thread waits after a signal is no bug unless it does harm.
        Rule::NakedNotify => Evidence::Harmful,
        Rule::DataRace
        | Rule::Atomicity
        | Rule::AtomicSet
        | Rule::Unserializable
        | Rule::LockDiscipline
        | Rule::LockOrder
        | Rule::Failure
        | Rule::LockPattern
        | Rule::GuardedBy
        | Rule::DoubleCheckedLocking
        | Rule::ReassignedLock
        | Rule::WaitOutsideLoop
        | Rule::TestLockAssign
        | Rule::CheckThenAct
        | Rule::InconsistentSync
        | Rule::TwoGuards
        | Rule::CompoundVolatile
        | Rule::SharedFormat
        | Rule::UnsafePublication
        | Rule::UnreleasedLock
        | Rule::NestedWait
        | Rule::NotifyOne => Evidence::Confirmed,
    }
}

/// The same for a recorded run that is known already, by any runner.
fn prove_with(
    recorded: &Recorded<'_>,
    runner: &dyn Runner,
    findings: &mut Vec<Finding>,
    budget: Budget,
    (clock, deadline): (&dyn Clock, Instant),
    observer: &dyn Observer,
) -> Result<Tally> {
    let line = ForcingLine::new(observer, findings.len());
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&index| promise(&findings[index]));
    let places = runner.side_by_side(budget.jobs);
    let runs = Runs::new(runner, places);
    let attempt = |finding: &Finding, share: Instant, first_try: bool| -> Result<Attempt> {
        let mut finding = finding.clone();
        let time = Time {
            clock,
            total: deadline,
            share,
            first_try,
        };
        let mut prover = Prover::new(recorded, &runs, time);
        let outcome = prover.attempt(&mut finding, &line);
        finding.shown = is_shown(&finding);
        outcome.map(|()| Attempt {
            finding,
            disturbed: prover.disturbed,
            beside: prover.beside,
            cut_short: prover.cut_short,
            tally: prover.tally,
        })
    };
    let jobs = places.min(order.len());
    // With little time for many findings, each has its first try before any goes on.
    let is_short = is_short(clock.now(), deadline, jobs, order.len(), budget.run);
    // All of some findings, several at the same time; none takes the time of all others.
    let all = |order: &[usize], first: bool| -> Vec<(usize, Result<Attempt>)> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<Attempt>)>> = Mutex::new(Vec::new());
        let work = || {
            while let Some(turn) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|turn| *turn < order.len()) {
                let finding = &findings[order[turn]];
                let share = share(clock.now(), deadline, jobs, order.len() - turn, budget.run);
                let result = attempt(finding, share, first && is_short);
                if first {
                    line.ended(result.as_ref().map_or(finding, |attempt| &attempt.finding));
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
    let is_time_left = || clock.now() < deadline && !clock.is_interrupted();
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
    runs.begin_again_alone();
    for index in &order {
        let Some(first) = attempts.get_mut(index) else { continue };
        // Its own runs went on side by side: serial orders that were disturbed have been run again, alone.
        let enough = if jobs > 1 {
            Evidence::Harmful
        } else {
            Evidence::Confirmed
        };
        let was_beside = jobs > 1 || first.beside;
        let alone = was_beside && first.disturbed && first.finding.evidence < enough;
        if alone && is_time_left() {
            match attempt(&findings[*index], deadline, false) {
                Ok(again) => first.take_better(again),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    let mut tally = Tally::default();
    if is_time_left() {
        let (deadlock, made) = stuck::find(&recorded.marks, &runs)?;
        tally.runs += made;
        tally.forced.extend(deadlock.iter().map(|finding| finding.id.clone()));
        findings.extend(deadlock);
    }
    for (index, attempt) in attempts {
        findings[index] = attempt.finding;
        tally.add(attempt.tally);
    }
    tally.failed.extend(runs.failed());
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

/// Whether so many findings are too many for each to have a whole run's time.
fn is_short(now: Instant, deadline: Instant, jobs: usize, findings: usize, run: Duration) -> bool {
    findings > 1 && deadline.saturating_duration_since(now) * (jobs as u32) < run * findings as u32
}

/// Until when the next finding may be tried if so many are left, this one included: one run at least.
fn share(now: Instant, deadline: Instant, jobs: usize, left: usize, run: Duration) -> Instant {
    let each = deadline.saturating_duration_since(now) * jobs as u32 / left.max(1) as u32;
    (now + each.max(run / 2)).min(deadline)
}

/// Which findings to try first: those of the application, among them races that were observed, then what the code alone makes
/// suspicious, then by rule and evidence.
fn promise(finding: &Finding) -> (bool, bool, bool, u8, std::cmp::Reverse<Evidence>) {
    let rule = match finding.rule.family() {
        RuleFamily::LockOrder => 0,
        RuleFamily::Atomicity => 1,
        RuleFamily::AtomicSet => 2,
        RuleFamily::Race => 3,
        RuleFamily::Serializability => 4,
        RuleFamily::Discipline | RuleFamily::Failure | RuleFamily::Code => 5,
    };
    let supported = ravel_scan::confirm::is_supported(finding);
    (
        directed::is_of_platform(finding),
        !is_observed_race(finding),
        !supported,
        rule,
        std::cmp::Reverse(finding.evidence),
    )
}

/// Whether a finding is a data race in code of the application that the recorded run itself had: two accesses side by side that
/// nothing orders.
pub(crate) fn is_observed_race_of_application(finding: &Finding) -> bool {
    is_observed_race(finding)
        && finding.evidence >= Evidence::Witnessed
        && !finding.steps.is_empty()
        && finding
            .steps
            .iter()
            .all(|step| step.inside.is_none() && !is_platform(&step.class))
        && finding.variables.iter().all(|variable| !is_platform(variable))
}

/// Whether a finding is a data race that the recorded run itself had.
fn is_observed_race(finding: &Finding) -> bool {
    finding.rule == Rule::DataRace && finding.candidates.iter().any(|candidate| candidate.observed)
}

/// What the default view shows: harm, and what happened and rests on certain units, is a data race, or is what the user looks for.
fn is_shown(finding: &Finding) -> bool {
    let of_calls = is_of_calls(finding);
    let is_certain = |kind: UnitKind| kind == UnitKind::Declared || kind == UnitKind::Section && !of_calls;
    let certain = !finding.units.is_empty() && finding.units.iter().all(|unit| is_certain(unit.kind));
    match finding.evidence {
        Evidence::Harmful => true,
        Evidence::Confirmed => finding.rule == Rule::DataRace || certain || finding.own_pattern.is_some(),
        _ => false,
    }
}

/// Whether a finding is about an object of the JDK alone. If that protects itself (an atomic number, a concurrent collection), a critical section that calls it
/// twice is no unit on its state: others may call it without that lock. If it does not, the accesses are a data race.
fn is_of_calls(finding: &Finding) -> bool {
    !finding.steps.is_empty() && finding.steps.iter().all(|step| step.inside.is_some())
}
