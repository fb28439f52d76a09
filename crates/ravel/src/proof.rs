//! From findings to evidence: for each a schedule, forced twice, and compared with runs in which its units come one after
//! the other.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, Rule, UnitKind};
use ravel_schedule::{Effort, Goal, Image, Limits, Schedule, Shape, Verdict, generate, serial_schedules};
use ravel_trace::names::Names;
use ravel_trace::{Event, Op, ReadOptions, Reader, Source, Value};
use rustc_hash::FxHashMap;

use crate::forcing::{Forced, Program};
use crate::interrupt;
use crate::progress::Forcing;

/// Occurrences of one finding that are tried before it is given up.
const MOST_CANDIDATES: usize = 3;

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
    /// Why a finding did not get further: its id and the reason.
    pub reasons: Vec<(String, String)>,
}

/// What the recorded trace says of an event, in words that mean the same in another run.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mark {
    thread: String,
    position: u32,
    op: &'static str,
    site: String,
    variable: String,
    /// Class, method, file and line, for people.
    place: (String, String, String, u32),
}

impl Tally {
    /// Adds what was tried elsewhere.
    pub fn add(&mut self, other: Tally) {
        self.scheduled += other.scheduled;
        self.forced.extend(other.forced);
        self.happened += other.happened;
        self.runs += other.runs;
        self.reasons.extend(other.reasons);
    }
}

/// What it takes to prove one finding; several work side by side on the same trace.
struct Prover<'a> {
    image: &'a Image,
    program: &'a Program,
    marks: &'a FxHashMap<u64, Mark>,
    /// Numbers the runs of all provers.
    numbers: &'a AtomicUsize,
    tally: Tally,
    /// No run is begun after this.
    deadline: Instant,
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
    let marks = marks(&mut open()?, findings, &image)?;
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
                numbers: &numbers,
                tally: Tally::default(),
                deadline,
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

    fn give_up(&mut self, finding: &Finding, reason: impl Into<String>) {
        self.tally.reasons.push((finding.id.clone(), reason.into()));
    }

    fn finding(&mut self, finding: &mut Finding) -> Result<()> {
        let mut reason = "the trace has no occurrence of it that could be forced".to_string();
        let (mut scheduled, mut forced) = (false, false);
        for candidate in finding.candidates.clone().iter().take(MOST_CANDIDATES) {
            if self.is_over() {
                reason = "the time was used up (--budget)".to_string();
                break;
            }
            let Some(goal) = Goal::of_candidate(finding.rule, candidate) else {
                continue;
            };
            let made = match generate(self.image, &goal, &Effort::default()) {
                Ok(made) => made,
                Err(error) => {
                    reason = error.to_string();
                    continue;
                }
            };
            scheduled = true;
            if made.verdict == Verdict::Witnessed {
                finding.evidence = finding.evidence.max(Evidence::Witnessed);
            }
            finding.schedule = made.schedule.to_pairs();
            forced = true;
            match self.confirm(candidate, &goal, &made.schedule)? {
                Ok(runs) => {
                    self.tally.happened += 1;
                    self.retell(finding, candidate);
                    self.judge(finding, candidate, &goal, &runs)?;
                    reason.clear();
                    break;
                }
                Err(why) => reason = why,
            }
        }
        self.tally.scheduled += usize::from(scheduled);
        if forced {
            self.tally.forced.insert(finding.id.clone());
        }
        if !reason.is_empty() {
            self.give_up(finding, reason);
        }
        Ok(())
    }

    /// Another occurrence happened than the one that the finding tells: tells that one.
    fn retell(&self, finding: &mut Finding, candidate: &Candidate) {
        if finding.steps.len() != candidate.events.len() {
            return;
        }
        for (step, event) in finding.steps.iter_mut().zip(&candidate.events) {
            let told = step.event.map(|told| told.index);
            if told == Some(event.index) || step.event.is_none_or(|told| told.thread != event.thread) {
                continue;
            }
            let Some(mark) = self.marks.get(&event.index) else {
                continue;
            };
            step.op = mark.op.to_string();
            (step.class, step.method, step.file, step.line) = mark.place.clone();
            step.event = Some(*event);
        }
    }

    fn run(&mut self, schedule: &Schedule) -> Result<Forced> {
        self.tally.runs += 1;
        self.program
            .force(schedule, self.numbers.fetch_add(1, Ordering::Relaxed))
    }

    /// Two runs out of two must have the pattern.
    fn confirm(
        &mut self,
        candidate: &Candidate,
        goal: &Goal,
        schedule: &Schedule,
    ) -> Result<Result<Vec<Forced>, String>> {
        let mut runs = Vec::new();
        let mut retried = false;
        while runs.len() < 2 {
            let run = self.run(schedule)?;
            match self.happened(candidate, goal, &run) {
                Ok(()) => runs.push(run),
                // The first try may meet classes that are not loaded yet, or a machine that was busy.
                Err(_) if !retried && runs.is_empty() => retried = true,
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(runs))
    }

    /// Whether a run had the candidate's events, by the same threads at the same places, in the wanted order.
    fn happened(&self, candidate: &Candidate, goal: &Goal, run: &Forced) -> Result<(), String> {
        if goal.shape == Shape::Blocked {
            return match run.deadlock() {
                Some(_) => Ok(()),
                None if run.complete() => Err("the threads did not block each other".into()),
                None => Err(format!("the run left the schedule: {}", failure(run))),
            };
        }
        if !run.complete() {
            return Err(format!("the run left the schedule: {}", failure(run)));
        }
        let Some((events, names)) = &run.trace else {
            return Err("the run left no trace".into());
        };
        let found = self.find(candidate, events, names)?;
        if found.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("the accesses came in another order".into());
        }
        let first = events[found[0]].op.location();
        if goal.shape == Shape::Adjacent && events[found[found.len() - 1]].op.location() != first {
            return Err("the accesses were of different objects".into());
        }
        Ok(())
    }

    /// The candidate's events in another run.
    fn find(&self, candidate: &Candidate, events: &[Event], names: &Names) -> Result<Vec<usize>, String> {
        let paths = ravel_schedule::naming::thread_names(names, names.threads.len());
        candidate
            .events
            .iter()
            .map(|wanted| {
                let mark = self
                    .marks
                    .get(&wanted.index)
                    .ok_or("an event of the pattern is not in the trace")?;
                let at = |event: &Event| {
                    event.position == mark.position
                        && paths
                            .get(event.thread.index())
                            .is_some_and(|name| name.path == mark.thread)
                        && op_name(&event.op) == mark.op
                        && variable(event, names) == mark.variable
                };
                let found = events.iter().position(at).ok_or_else(|| {
                    format!(
                        "thread {} did not {} {} at point {}",
                        mark.thread, mark.op, mark.variable, mark.position
                    )
                })?;
                if site(&events[found], names) != mark.site {
                    return Err(format!(
                        "point {} of thread {} was another place",
                        mark.position, mark.thread
                    ));
                }
                Ok(found)
            })
            .collect()
    }

    /// Compares what happened with what serial orders of the units give.
    fn judge(&mut self, finding: &mut Finding, candidate: &Candidate, goal: &Goal, runs: &[Forced]) -> Result<()> {
        finding.evidence = Evidence::Confirmed;
        finding.outcome = Some(Outcome {
            kind: "normal".into(),
            thread: None,
            message: "the forced run ended as any other".into(),
        });
        if let Some(threads) = runs[0].deadlock() {
            finding.evidence = Evidence::Harmful;
            finding.outcome = Some(Outcome {
                kind: "deadlock".into(),
                thread: None,
                message: format!("{threads} wait for each other for ever"),
            });
            return Ok(());
        }
        let mut schedules: Vec<Schedule> = serial_schedules(self.image, goal, &Effort::default())
            .into_iter()
            .map(|serial| serial.schedule)
            .collect();
        if schedules.is_empty() {
            // No units to put in order: the program as it runs by itself.
            schedules.push(Schedule::default());
        }
        let mut serial = Vec::new();
        for schedule in schedules.iter().take(4) {
            if self.is_over() {
                break;
            }
            let pair = [self.run(schedule)?, self.run(schedule)?];
            if pair.iter().all(Forced::complete) {
                serial.push(pair);
            }
        }
        if serial.is_empty() {
            self.give_up(
                finding,
                "no serial order of the units could be forced, so nothing is known of harm",
            );
            return Ok(());
        }
        if let Some(outcome) = self.harm(finding, candidate, runs, &serial) {
            finding.evidence = Evidence::Harmful;
            finding.outcome = Some(outcome);
        }
        Ok(())
    }

    /// What both forced runs did and no serial run does.
    fn harm(
        &self,
        finding: &Finding,
        candidate: &Candidate,
        runs: &[Forced],
        serial: &[[Forced; 2]],
    ) -> Option<Outcome> {
        let all = || serial.iter().flatten();
        let class = |text: &str| text.split(':').next().unwrap_or_default().to_string();
        for (thread, exception) in runs[0].exceptions() {
            let seen = |run: &Forced| {
                run.exceptions()
                    .iter()
                    .any(|(_, other)| class(other) == class(&exception))
            };
            if runs.iter().all(seen) && !all().any(seen) {
                return Some(Outcome {
                    kind: "exception".into(),
                    thread: Some(thread),
                    message: exception,
                });
            }
        }
        if runs.iter().all(Forced::hung) && !all().any(Forced::hung) {
            let message = "the program did not end; every serial order does".to_string();
            return Some(Outcome {
                kind: "hang".into(),
                thread: None,
                message,
            });
        }
        let code = runs[0].status.code();
        if runs.iter().all(|run| run.status.code() == code) && !all().any(|run| run.status.code() == code) {
            let message = format!(
                "the program ended with exit code {}",
                code.map_or("?".into(), |code| code.to_string())
            );
            return Some(Outcome {
                kind: "exit".into(),
                thread: None,
                message,
            });
        }
        self.values(finding, candidate, runs, serial)
            .or_else(|| outputs(runs, serial))
    }

    /// Final values of the pattern's locations.
    fn values(
        &self,
        finding: &Finding,
        candidate: &Candidate,
        runs: &[Forced],
        serial: &[[Forced; 2]],
    ) -> Option<Outcome> {
        let finals = |run: &Forced| -> Option<Vec<Value>> {
            let (events, names) = run.trace.as_ref()?;
            // In a serial run the pattern's events are the same threads' at the same points, if the values let them be.
            let found: Vec<usize> = self.find(candidate, events, names).ok()?;
            Some(found.iter().map(|&index| last_value(events, index)).collect())
        };
        let forced: Vec<Vec<Value>> = runs.iter().map(finals).collect::<Option<_>>()?;
        let possible: Vec<Vec<Value>> = serial.iter().flatten().map(finals).collect::<Option<_>>()?;
        let exact = |value: &Value| matches!(value, Value::Exact(_));
        for at in 0..forced[0].len() {
            let value = forced[0][at];
            let same = forced.iter().all(|values| values[at] == value);
            if same && exact(&value) && possible.iter().all(|values| exact(&values[at]) && values[at] != value) {
                let mut others: Vec<i64> = possible.iter().filter_map(|values| number(values[at])).collect();
                others.sort_unstable();
                others.dedup();
                let others: Vec<String> = others.iter().map(ToString::to_string).collect();
                let variable = finding.variables.first().map_or("the variable", String::as_str);
                let message = format!(
                    "{variable} was {}; every serial order gives {}",
                    number(value).unwrap_or_default(),
                    others.join(" or ")
                );
                return Some(Outcome {
                    kind: "value".into(),
                    thread: None,
                    message,
                });
            }
        }
        None
    }
}

fn number(value: Value) -> Option<i64> {
    match value {
        Value::Exact(number) => Some(number),
        _ => None,
    }
}

/// What the location of an event holds at the end of the run.
fn last_value(events: &[Event], index: usize) -> Value {
    let location = events[index].op.location();
    let value = |event: &Event| match event.op {
        Op::Read { value, .. } | Op::Write { value, .. } | Op::Update { value, .. } => value,
        _ => Value::Unknown,
    };
    events
        .iter()
        .rev()
        .find(|event| location.is_some() && event.op.location() == location)
        .map_or(Value::Unknown, value)
}

/// Output that no serial run writes, if output is the same whenever the same schedule is forced.
fn outputs(runs: &[Forced], serial: &[[Forced; 2]]) -> Option<Outcome> {
    let steady = serial.iter().all(|pair| pair[0].output == pair[1].output)
        && runs.iter().all(|run| run.output == runs[0].output);
    let new = serial.iter().flatten().all(|run| run.output != runs[0].output);
    if !steady || !new {
        return None;
    }
    let text = String::from_utf8_lossy(&runs[0].output).into_owned();
    let usual: Vec<String> = serial
        .iter()
        .map(|pair| String::from_utf8_lossy(&pair[0].output).into_owned())
        .collect();
    let line = text
        .lines()
        .find(|line| !usual.iter().any(|usual| usual.lines().any(|other| other == *line)));
    let message = match line {
        Some(line) => format!("the program printed {line:?}, which no serial order prints"),
        None => "the program printed less than, or in another order than, any serial order".to_string(),
    };
    Some(Outcome {
        kind: "output".into(),
        thread: None,
        message,
    })
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

/// What the trace says of the findings' events.
fn marks(reader: &mut Reader, findings: &[Finding], image: &Image) -> Result<FxHashMap<u64, Mark>> {
    let mut marks: FxHashMap<u64, Mark> = FxHashMap::default();
    let wanted: rustc_hash::FxHashSet<u64> = findings
        .iter()
        .flat_map(|finding| finding.candidates.iter().take(MOST_CANDIDATES))
        .flat_map(|candidate| candidate.events.iter().map(|event| event.index))
        .collect();
    let mut index = 0;
    while let Some(event) = reader.next_event()? {
        if wanted.contains(&index) {
            let names = reader.names();
            let thread = image
                .thread_names()
                .get(event.thread.index())
                .map(|name| name.path.clone())
                .unwrap_or_default();
            let mark = Mark {
                thread,
                position: event.position,
                op: op_name(&event.op),
                site: site(&event, names),
                variable: variable(&event, names),
                place: place(&event, names),
            };
            marks.insert(index, mark);
        }
        index += 1;
    }
    Ok(marks)
}

fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Read { .. } => "read",
        Op::Write { .. } => "write",
        Op::Update { .. } => "update",
        Op::Acquire { .. } => "acquire",
        _ => "do",
    }
}

fn place(event: &Event, names: &Names) -> (String, String, String, u32) {
    let site = names.site(event.site);
    let method = names.methods.get(site.method.index());
    let class = method.and_then(|method| names.classes.get(method.class.index()));
    (
        class.map_or_else(String::new, |class| class.name.clone()),
        method.map_or_else(String::new, |method| format!("{}{}", method.name, method.descriptor)),
        class.map_or_else(String::new, |class| class.file.clone()),
        site.line,
    )
}

fn site(event: &Event, names: &Names) -> String {
    let site = names.site(event.site);
    let Some(method) = names.methods.get(site.method.index()) else {
        return String::new();
    };
    let class = names
        .classes
        .get(method.class.index())
        .map_or("", |class| class.name.as_str());
    format!("{class}.{}{} {}", method.name, method.descriptor, site.bci)
}

/// The field or element type accessed; object identities mean nothing in another run.
fn variable(event: &Event, names: &Names) -> String {
    let Some(location) = event.op.location() else {
        return String::new();
    };
    match names.field_of(location) {
        Some(field) => {
            let field = names.field(field);
            format!("{}.{}", names.class(field.class).name, field.name)
        }
        None => "an array element".into(),
    }
}
