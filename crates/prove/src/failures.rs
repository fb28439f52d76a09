//! Failures are findings: what went wrong in a run is reported whether or not another order of the threads fails as well.
//!
//! The agent notes failures in the footer of each trace. Those of the recorded run are reported as they are. Those of another
//! run are reported with its schedule, once a second run of the schedule fails in the same way and a run without a schedule does
//! not: ports, files and input that a second run finds otherwise are no matter of the order of the threads. A failure that a
//! shown finding has as its outcome is not reported again. A failure of a forced run that says that something took too long is held back,
//! because Ravel itself makes threads wait there, and the report says so.
//!
//! An exit code other than 0 is a failure only of a program that ends with 0 by itself. Programs that check their results end like
//! that for any bug, so it is not reported beside a bug that is known to spoil a result, nor for a run that has a reported failure of
//! another kind.

use anyhow::Result;
use ravel_analysis::finding::{Evidence, Finding, FindingStep, Outcome, OutcomeKind, Rule, RuleFamily};
use ravel_analysis::merge::fingerprint;
use ravel_analysis::numbers::count;
use ravel_schedule::Schedule;
use ravel_trace::failure::exception_class;
use ravel_trace::naming::{self, Frame};
use ravel_trace::{FailedThread, Failure, FailureKind, WaitKind};

use crate::runner::Runner;
use crate::words;

/// A failure of a run that was not recorded.
#[derive(Clone, Debug)]
pub struct FailedRun {
    /// The order of the run.
    pub schedule: Schedule,
    /// What went wrong.
    pub failure: Failure,
}

/// In which run a failure happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RunKind {
    Recorded,
    InOrder,
}

/// The names under which findings of failures list the run that showed them among their analyses.
const RECORD: &str = "record";
const REPLAY: &str = "replay";

/// The finding of a failure of the recorded run.
pub fn of_recording(failure: &Failure) -> Finding {
    finding(failure, RunKind::Recorded)
}

/// What came of the failures of runs that were not recorded.
#[derive(Debug, Default)]
pub struct FailedOrders {
    /// Those that depend on the order of the threads, each with its schedule.
    pub found: Vec<(Finding, Schedule)>,
    /// How many runs it took to know.
    pub runs: usize,
    /// Those that say that something took too long, which may be the forcing.
    pub held_back: Vec<Failure>,
}

/// The failures of other runs that depend on the order of the threads. `known` says which are reported already.
pub fn of_orders(
    runner: &dyn Runner,
    failed: &[FailedRun],
    known: &dyn Fn(&Failure) -> bool,
    is_over: &dyn Fn() -> bool,
) -> Result<FailedOrders> {
    let (mut found, mut runs) = (Vec::new(), 0);
    let mut held_back: Vec<Failure> = Vec::new();
    let mut asked: Vec<&Failure> = Vec::new();
    let mut free: [Vec<Vec<Failure>>; 2] = Default::default();
    let is_exit = |run: &&FailedRun| run.failure.kind == FailureKind::Exit;
    let (exits, others): (Vec<&FailedRun>, Vec<&FailedRun>) = failed.iter().partition(is_exit);
    let (mut told, mut followed): (Vec<&Failure>, usize) = (Vec::new(), 0);
    for FailedRun { schedule, failure } in others.into_iter().chain(exits) {
        let is_new = !known(failure) && !asked.iter().any(|other| is_alike(other, failure));
        if is_new && is_of_time(failure) {
            if !held_back.iter().any(|other| is_alike(other, failure)) {
                held_back.push(failure.clone());
            }
            continue;
        }
        // Without a schedule there is no order to describe.
        if !is_new || schedule.segments.is_empty() || is_over() {
            continue;
        }
        asked.push(failure);
        let needs_no_order = |other: &Failure| match failure.kind {
            FailureKind::Exit => other.kind == FailureKind::Exit,
            FailureKind::Exception | FailureKind::Deadlock | FailureKind::Standstill => is_alike(other, failure),
        };
        // A program that fails now and then by itself has the bug all the same; one that fails in each further run may lack a file.
        // Under the scheduler of a search the threads go one after the other if no order is given.
        let mut fails_alone = true;
        let free = &mut free[usize::from(schedule.controlled)];
        for number in 0..FREE_RUNS {
            if number == free.len() {
                runs += 1;
                let none = Schedule {
                    controlled: schedule.controlled && number == 0,
                    ..Schedule::default()
                };
                free.push(runner.force(&none, NUMBER)?.failures);
            }
            fails_alone = free[number].iter().any(needs_no_order);
            if !fails_alone {
                break;
            }
        }
        if fails_alone {
            continue;
        }
        runs += 1;
        let again = runner.force(schedule, NUMBER)?;
        let is_told = |other: &Failure| known(other) || told.iter().any(|told| is_alike(told, other));
        // The exit code of a run that fails in another way follows from that.
        let mut causes = again.failures.iter().filter(|other| other.kind != FailureKind::Exit);
        if failure.kind == FailureKind::Exit && causes.any(is_told) {
            // Another order may end like this for another reason.
            asked.pop();
            continue;
        }
        // So does an exception that comes after one that is told: another thread misses what the first one did not do.
        let mut before = again.failures.iter().take_while(|other| !is_alike(other, failure));
        if failure.kind == FailureKind::Exception && before.any(is_told) {
            followed += 1;
            if followed < MOST_FOLLOWED {
                asked.pop();
            }
            continue;
        }
        if again.failures.iter().any(|other| is_alike(other, failure)) {
            told.push(failure);
            let mut finding = finding(failure, RunKind::InOrder);
            finding.schedule = schedule.to_pairs();
            found.push((finding, schedule.clone()));
        }
    }
    Ok(FailedOrders { found, runs, held_back })
}

/// Says which failures were held back, and why; nothing if there are none.
pub fn held_back(failures: &[Failure]) -> Option<String> {
    let one = |failure: &Failure| {
        let names: Vec<String> = failure.threads.iter().map(|thread| thread.name.clone()).collect();
        let place = failure.threads.first().map(|thread| thread.own_frame().name());
        let place = place.map_or(String::new(), |place| format!(" in {place}"));
        let exception = short_exception(&failure.exception);
        format!("{exception} ends {}{place}", words::threads(&names))
    };
    let all: Vec<String> = failures.iter().map(one).collect();
    (!all.is_empty()).then(|| {
        format!(
            "held back: {} of forced runs alone, where the forcing may be what took too long: {}",
            count(all.len() as u64, "failure"),
            all.join("; ")
        )
    })
}

/// Whether a failure says that something took too long: in a forced run that may be the forcing.
fn is_of_time(failure: &Failure) -> bool {
    failure.exception.contains("Timeout") || failure.exception.contains("timed out")
}

/// Orders in which an exception may follow from another failure before no other order is tried for it.
const MOST_FOLLOWED: usize = 4;

/// Runs without a schedule that must all fail for a failure to need no order.
const FREE_RUNS: usize = 3;

/// Tells these runs from others of the same program that may go on.
const NUMBER: usize = 1 << 24;

/// Whether two failures are one bug: of the same kind at the same code.
pub fn is_alike(one: &Failure, other: &Failure) -> bool {
    one.kind == other.kind && key(one) == key(other)
}

/// Whether a shown finding has this failure as its outcome already. Of an outcome only the words are known; `all` has the failures
/// of all runs, which tell at which code an exception with these words was thrown.
pub fn is_outcome_of(failure: &Failure, finding: &Finding, all: &[Failure]) -> bool {
    let Some(outcome) = finding.outcome.as_ref().filter(|_| finding.shown) else {
        return false;
    };
    if is_of_raced_object(failure, finding) {
        return true;
    }
    match failure.kind {
        FailureKind::Exception => {
            let mut alike = all.iter().filter(|other| is_alike(other, failure)).chain([failure]);
            let place = |stack: &[String]| {
                let thread = FailedThread {
                    stack: stack.to_vec(),
                    ..FailedThread::default()
                };
                thread.own_frame().name()
            };
            let is_thrown_again = |thread: &FailedThread| {
                let own = place(&thread.stack);
                joins_task(thread) && outcome.stack.iter().any(|frame| Frame::parse(frame).name() == own)
            };
            let same_code = || {
                exception_class(&outcome.message) == failure.exception_class()
                    && !outcome.stack.is_empty()
                    && failure
                        .threads
                        .iter()
                        .any(|thread| place(&thread.stack) == place(&outcome.stack) || is_thrown_again(thread))
            };
            outcome.kind == OutcomeKind::Exception
                && (alike.any(|other| other.exception == outcome.message) || same_code())
        }
        FailureKind::Deadlock => {
            let mut locks: Vec<&str> = failure.threads.iter().map(|thread| thread.target.as_str()).collect();
            locks.sort_unstable();
            locks.dedup();
            let mut named: Vec<&str> = finding.variables.iter().map(String::as_str).collect();
            named.sort_unstable();
            finding.rule.family() == RuleFamily::LockOrder && outcome.kind == OutcomeKind::Deadlock && named == locks
        }
        FailureKind::Standstill => outcome.kind == OutcomeKind::Hang,
        FailureKind::Exit => match outcome.kind {
            OutcomeKind::Exit | OutcomeKind::Output | OutcomeKind::Value | OutcomeKind::Return => true,
            OutcomeKind::Normal | OutcomeKind::Exception | OutcomeKind::Deadlock | OutcomeKind::Hang => false,
        },
    }
}

/// Whether a thread throws the exception of a worker again: a task of a fork-join pool does that in the code that waits for it.
fn joins_task(thread: &FailedThread) -> bool {
    let joins = |frame: &String| Frame::parse(frame).class == "java.util.concurrent.ForkJoinTask";
    thread.stack.iter().any(joins)
}

/// Whether an exception is one that collections throw: where a task throws it again, the stack does not say where it comes from.
fn is_of_collection(failure: &Failure) -> bool {
    matches!(
        failure.exception_class(),
        "java.lang.ArrayIndexOutOfBoundsException"
            | "java.lang.ClassCastException"
            | "java.lang.IndexOutOfBoundsException"
            | "java.lang.NullPointerException"
            | "java.util.ConcurrentModificationException"
            | "java.util.NoSuchElementException"
    )
}

/// Whether an exception comes from inside an object of the JDK that a shown race is about, called by code of the race: which exception it is, and
/// whether there is one, is chance.
fn is_of_raced_object(failure: &Failure, finding: &Finding) -> bool {
    let is_race = finding.rule.family().is_race() && finding.steps.iter().all(|step| step.inside.is_some());
    if !is_race || failure.kind != FailureKind::Exception {
        return false;
    }
    failure.threads.iter().any(|thread| {
        let own = thread.own_frame();
        let is_inside = thread
            .stack
            .first()
            .is_some_and(|frame| ravel_trace::origin::is_platform(Frame::parse(frame).class));
        finding.steps.iter().any(|step| {
            let is_step = own.name() == format!("{}.{}", step.class, naming::without_descriptor(&step.method));
            own.class == step.class && (is_inside && is_step || joins_task(thread) && is_of_collection(failure))
        })
    })
}

/// Drops failures that a shown finding of another machine has as its outcome. What is known of a failure is what its finding tells.
pub fn drop_told(findings: &mut Vec<Finding>) {
    let all: Vec<Failure> = findings.iter().filter_map(retold).collect();
    let recorded: Vec<Failure> = findings
        .iter()
        .filter(|one| is_made_by(one, RECORD))
        .filter_map(retold)
        .collect();
    // The second run of the same deadlock has less information.
    findings.retain(|known| {
        let again = known.rule.family() == RuleFamily::LockOrder && is_made_by(known, REPLAY);
        !(again && recorded.iter().any(|failure| is_outcome_of(failure, known, &all)))
    });
    for maker in [RECORD, REPLAY] {
        let mut at = findings.len();
        while at > 0 {
            at -= 1;
            let Some(failure) = retold(&findings[at]).filter(|_| is_made_by(&findings[at], maker)) else {
                continue;
            };
            let is_told = |(other, finding): (usize, &Finding)| other != at && is_outcome_of(&failure, finding, &all);
            if findings.iter().enumerate().any(is_told) {
                findings.remove(at);
            }
        }
    }
}

/// Whether a finding was made of a failure alone, by this kind of run.
fn is_made_by(finding: &Finding, maker: &str) -> bool {
    let mut analyses = finding.analyses.iter();
    analyses.next().is_some_and(|first| first == maker) && analyses.all(|other| other == ravel_scan::confirm::ANALYSIS)
}

/// The failure that a finding was made of, as far as the finding tells it.
fn retold(finding: &Finding) -> Option<Failure> {
    let outcome = finding.outcome.as_ref()?;
    if !is_made_by(finding, RECORD) && !is_made_by(finding, REPLAY) {
        return None;
    }
    let kind = match outcome.kind {
        OutcomeKind::Exception => FailureKind::Exception,
        OutcomeKind::Deadlock => FailureKind::Deadlock,
        OutcomeKind::Hang => FailureKind::Standstill,
        OutcomeKind::Exit => FailureKind::Exit,
        OutcomeKind::Normal | OutcomeKind::Output | OutcomeKind::Value | OutcomeKind::Return => return None,
    };
    let thread = |target: &str| FailedThread {
        target: target.to_owned(),
        stack: outcome.stack.clone(),
        ..FailedThread::default()
    };
    let threads = match kind {
        FailureKind::Deadlock => finding.variables.iter().map(|lock| thread(lock)).collect(),
        FailureKind::Exception | FailureKind::Standstill | FailureKind::Exit => vec![thread("")],
    };
    Some(Failure {
        kind,
        exception: outcome.message.clone(),
        threads,
    })
}

/// What makes a failure this one in every run, and after unrelated edits: class of the exception or ways of waiting, and code.
fn key(failure: &Failure) -> Vec<String> {
    let place = |thread: &FailedThread| {
        let frame = thread.own_frame();
        format!("{}.{}", frame.class, frame.method)
    };
    let mut parts: Vec<String> = match failure.kind {
        FailureKind::Exception | FailureKind::Exit => failure.threads.iter().map(place).collect(),
        FailureKind::Deadlock | FailureKind::Standstill => {
            let one = |thread: &FailedThread| format!("{} {}", thread.target, place(thread));
            // Joining others is what threads do that have nothing to do with it.
            let root = failure.threads.iter().filter(|thread| thread.wait != WaitKind::Join);
            root.map(one).collect()
        }
    };
    parts.sort_unstable();
    parts.dedup();
    parts.insert(0, failure.exception_class().to_string());
    parts
}

fn finding(failure: &Failure, run: RunKind) -> Finding {
    let (rule, kind, word) = match failure.kind {
        FailureKind::Exception => (Rule::Failure, OutcomeKind::Exception, "failure"),
        FailureKind::Deadlock => (Rule::LockOrder, OutcomeKind::Deadlock, "deadlock"),
        FailureKind::Standstill => (Rule::Failure, OutcomeKind::Hang, "standstill"),
        FailureKind::Exit => (Rule::Failure, OutcomeKind::Exit, "exit"),
    };
    let key = key(failure);
    let locks = Locks::of(failure);
    let names: Vec<String> = failure.threads.iter().map(|thread| thread.name.clone()).collect();
    let names = words::threads(&names);
    let (message, end, help) = match failure.kind {
        FailureKind::Exception => {
            let exception = short_exception(&failure.exception);
            let exception = exception.trim_end_matches('.');
            let place = place(failure);
            let message = match run {
                RunKind::Recorded => format!("An uncaught exception ends {names}: {exception}."),
                RunKind::InOrder => {
                    format!("In some orders of the threads, an uncaught exception ends {names}: {exception}.")
                }
            };
            let help = match (run, failure.exception_class()) {
                (RunKind::Recorded, _) => format!("Find out why {place} throws, or catch the exception where {names} can handle it."),
                (RunKind::InOrder, "java.lang.NullPointerException") => format!(
                    "Set what {place} uses before {names} starts, or let {names} wait for it, for example with a CountDownLatch."
                ),
                (RunKind::InOrder, _) => format!(
                    "Let {names} wait for the state that {place} needs, for example with a join, a CountDownLatch or a condition."
                ),
            };
            (message, failure.exception.clone(), help)
        }
        FailureKind::Exit => (
            format!(
                "How the program ends depends on the order of the threads: in this order {names} ends it with {}, by itself it ends \
                 with exit code 0.",
                failure.exception
            ),
            failure.exception.clone(),
            "Order the threads, or make the operations whose result the program checks atomic.".to_owned(),
        ),
        FailureKind::Deadlock => (
            format!("{}.", waits(failure).unwrap_or_default()),
            match failure.threads.iter().any(is_of_class) {
                false => format!("{names} wait for each other's locks"),
                true => format!("{names} block each other through class initialisers"),
            },
            match failure.threads.iter().filter(|thread| is_of_class(thread)).count() {
                0 => "Acquire the locks in the same order everywhere.".to_owned(),
                all if all == failure.threads.len() => {
                    "Break the cycle: compute the value on first use instead of in the class initialiser, or move what both need to a third \
                     class."
                        .to_owned()
                }
                _ => {
                    "Break the cycle: acquire no lock in the class initialiser, or use the class before the lock is acquired, so that it is \
                     initialised by then."
                        .to_owned()
                }
            },
        ),
        FailureKind::Standstill => (
            match run {
                RunKind::Recorded => format!("The program hangs: {}.", locks.told(failure)),
                RunKind::InOrder => {
                    format!(
                        "In this order of the threads the program hangs: {}.",
                        locks.told(failure)
                    )
                }
            },
            format!("{names} wait, and no thread is left to wake them"),
            "Notify under the lock after every change of the state that is waited for, release explicit locks in `finally`, and hold no \
             other lock while waiting."
                .to_owned(),
        ),
    };
    let thread = match failure.threads.as_slice() {
        [only] => Some(only.name.clone()),
        _ => None,
    };
    let evidence = match failure.kind {
        FailureKind::Deadlock => Evidence::Harmful,
        FailureKind::Exception | FailureKind::Standstill | FailureKind::Exit => Evidence::Confirmed,
    };
    let id = fingerprint(std::iter::once(word).chain(key.iter().map(String::as_str)));
    Finding {
        shown: true,
        analyses: vec![match run {
            RunKind::Recorded => RECORD.into(),
            RunKind::InOrder => REPLAY.into(),
        }],
        variables: locks.classes(failure),
        steps: locks.steps(failure),
        outcome: Some(Outcome {
            thread: thread.filter(|_| failure.kind == FailureKind::Exception),
            stack: match failure.threads.as_slice() {
                [only] if failure.kind == FailureKind::Exception => only.stack.clone(),
                _ => Vec::new(),
            },
            ..Outcome::new(kind, end)
        }),
        message,
        help,
        ..Finding::new(id, rule, evidence)
    }
}

/// The code of the program in which a failure happened: `Stock.take (line 14)`.
fn place(failure: &Failure) -> String {
    let frame = failure.threads.first().map(FailedThread::own_frame).unwrap_or_default();
    let method = naming::qualified_method(&frame.name());
    match (method.is_empty(), frame.line) {
        (true, _) => "the code".to_owned(),
        (false, 0) => method,
        (false, line) => format!("{method} (line {line})"),
    }
}

/// Whether a thread waits for a class that another one initialises.
fn is_of_class(thread: &FailedThread) -> bool {
    thread.wait == WaitKind::Initialisation
}

/// What each thread of a deadlock or of a program that hangs waits for, in a sentence; none of another failure.
pub fn waits(failure: &Failure) -> Option<String> {
    let told = Locks::of(failure).told(failure);
    match failure.kind {
        FailureKind::Deadlock => Some(format!("{} deadlock: {told}", naming_list(failure))),
        FailureKind::Standstill => Some(format!("the program hangs: {told}")),
        FailureKind::Exception | FailureKind::Exit => None,
    }
}

/// `t1 and t2`
fn naming_list(failure: &Failure) -> String {
    let names: Vec<String> = failure.threads.iter().map(|thread| thread.name.clone()).collect();
    ravel_analysis::describe::listed(&names)
}

/// `NullPointerException: text` of `java.lang.NullPointerException: text`.
fn short_exception(exception: &str) -> String {
    let class = exception_class(exception);
    format!("{}{}", naming::class(class), &exception[class.len()..])
}

/// The names of the locks that the threads of a failure want: several of one class have numbers.
struct Locks(Vec<String>);

impl Locks {
    fn of(failure: &Failure) -> Locks {
        let is_lock = |thread: &FailedThread| !thread.target.is_empty() && thread.wait != WaitKind::Join;
        let name = |at: usize| {
            let thread = &failure.threads[at];
            let same: Vec<usize> = (0..failure.threads.len())
                .filter(|&other| is_lock(&failure.threads[other]) && failure.threads[other].target == thread.target)
                .collect();
            // Only of a deadlock it is known that the locks are different ones.
            match same.iter().position(|&other| other == at) {
                Some(number) if same.len() > 1 && failure.kind == FailureKind::Deadlock => {
                    naming::lock::numbered(&thread.target, number + 1)
                }
                _ => thread.target.clone(),
            }
        };
        Locks((0..failure.threads.len()).map(name).collect())
    }

    fn classes(&self, failure: &Failure) -> Vec<String> {
        let wanted = failure
            .threads
            .iter()
            .filter(|thread| !matches!(thread.wait, WaitKind::None | WaitKind::Join) && !thread.target.is_empty());
        let mut classes: Vec<String> = wanted.map(|thread| thread.target.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// What each thread waits for, in words.
    fn told(&self, failure: &Failure) -> String {
        let one = |(at, thread): (usize, &FailedThread)| {
            let (name, lock) = (&thread.name, naming::lock::short(&self.0[at]));
            match thread.wait {
                WaitKind::Join => format!("{name} waits for {} to end", thread.target),
                WaitKind::Notification if lock.is_empty() => format!("{name} waits for a notification"),
                WaitKind::Notification => format!("{name} waits for a notification of {lock}"),
                WaitKind::None => name.clone(),
                WaitKind::Initialisation => {
                    format!("{name} waits for class {lock}, which {} initialises", thread.holder)
                }
                WaitKind::Monitor | WaitKind::Parked => {
                    let lock = match lock.as_str() {
                        "" => "a signal".to_string(),
                        other => other.to_string(),
                    };
                    match (thread.holder.as_str(), thread.holder_ended) {
                        ("", _) => format!("{name} waits for {lock}"),
                        (holder, false) => format!("{name} waits for {lock}, which {holder} holds"),
                        (holder, true) => format!("{name} waits for {lock}, which {holder} held when it ended"),
                    }
                }
            }
        };
        let all: Vec<String> = failure.threads.iter().enumerate().map(one).collect();
        all.join("; ")
    }

    fn steps(&self, failure: &Failure) -> Vec<FindingStep> {
        let step = |(at, thread): (usize, &FailedThread)| {
            let frame = thread.own_frame();
            let from = thread
                .stack
                .iter()
                .position(|text| Frame::parse(text) == frame)
                .unwrap_or(0);
            // The thread before it in a cycle wants what this one holds.
            let held = match failure.kind {
                FailureKind::Deadlock => {
                    let before = (at + failure.threads.len() - 1) % failure.threads.len();
                    // A class is no lock that code could name.
                    match failure.threads[before].wait {
                        WaitKind::Initialisation => Vec::new(),
                        _ => vec![self.0[before].clone()],
                    }
                }
                FailureKind::Exception | FailureKind::Standstill | FailureKind::Exit => {
                    let wanted_of_it = |(_, other): &(usize, &FailedThread)| other.holder == thread.name;
                    let others = failure.threads.iter().enumerate().filter(wanted_of_it);
                    let mut held: Vec<String> = others.map(|(other, _)| self.0[other].clone()).collect();
                    held.dedup();
                    held
                }
            };
            FindingStep {
                thread: thread.name.clone(),
                op: match thread.wait {
                    WaitKind::None if failure.kind == FailureKind::Exit => "terminate",
                    WaitKind::None => "throw",
                    WaitKind::Monitor | WaitKind::Parked => "block",
                    WaitKind::Notification => "wait",
                    WaitKind::Join => "join",
                    WaitKind::Initialisation => "await-class",
                }
                .into(),
                variable: match thread.wait {
                    WaitKind::None | WaitKind::Join => String::new(),
                    _ => self.0[at].clone(),
                },
                class: frame.class.to_string(),
                method: frame.method.to_string(),
                file: frame.file.to_string(),
                line: frame.line,
                inside: thread.stack[..from].first().map(|text| Frame::parse(text).name()),
                locks: held,
                stack: thread.stack[from..].to_vec(),
                ..FindingStep::default()
            }
        };
        failure.threads.iter().enumerate().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::fake::{Fake, Program};

    fn thread(name: &str, wait: WaitKind, target: &str, holder: &str) -> FailedThread {
        FailedThread {
            name: name.into(),
            wait,
            target: target.into(),
            holder: holder.into(),
            holder_ended: false,
            stack: vec![
                "java.lang.Object.wait (Object.java)".into(),
                format!("shop.Stock.{name} (Stock.java:7)"),
                "java.lang.Thread.run (Thread.java:9)".into(),
            ],
        }
    }

    fn exception(text: &str) -> Failure {
        Failure {
            kind: FailureKind::Exception,
            exception: text.into(),
            threads: vec![thread("t1", WaitKind::None, "", "")],
        }
    }

    #[test]
    fn an_exception_is_known_by_class_and_code() {
        let (one, other) = (
            of_recording(&exception("java.lang.AssertionError: 1")),
            of_recording(&exception("java.lang.AssertionError: 2")),
        );
        assert_eq!(one.id, other.id);
        assert_eq!(one.message, "An uncaught exception ends t1: AssertionError: 1.");
        assert_eq!(
            (one.rule, one.evidence, one.shown),
            (Rule::Failure, Evidence::Confirmed, true)
        );
        let step = &one.steps[0];
        assert_eq!((step.class.as_str(), step.line, step.stack.len()), ("shop.Stock", 7, 2));
        assert_ne!(one.id, of_recording(&exception("java.lang.Error")).id);
    }

    #[test]
    fn the_outcome_of_a_shown_finding_is_not_told_twice() {
        let (failure, other) = (
            exception("java.lang.AssertionError: 1"),
            exception("java.lang.AssertionError: 3"),
        );
        let mut finding = of_recording(&other);
        // Thrown by the same code, in a run whose failures are not known.
        assert!(is_outcome_of(&failure, &finding, &[]));
        finding.outcome.as_mut().expect("an outcome").stack.clear();
        assert!(
            !is_outcome_of(&failure, &finding, &[]),
            "it may have come from anywhere"
        );
        assert!(is_outcome_of(&failure, &finding, &[failure.clone(), other]));
        finding.shown = false;
        assert!(!is_outcome_of(&failure, &finding, std::slice::from_ref(&failure)));
    }

    #[test]
    fn an_exception_from_inside_a_raced_collection_is_not_told_twice() {
        let mut race = of_recording(&exception("java.lang.AssertionError"));
        race.rule = Rule::DataRace;
        race.steps[0].inside = Some("java.util.ArrayList.add".into());
        race.outcome = Some(Outcome::new(OutcomeKind::Value, "the size was 1"));
        let own = format!(
            "{}.{}",
            race.steps[0].class,
            naming::without_descriptor(&race.steps[0].method)
        );
        let thrown = |stack: &[&str]| {
            let mut failure = exception("java.lang.ArrayIndexOutOfBoundsException: 1");
            failure.threads[0].stack = stack.iter().map(|frame| (*frame).to_owned()).collect();
            failure
        };
        let caller = format!("{own} (Stock.java:7)");
        let inside = thrown(&["java.util.ArrayList.add (ArrayList.java:455)", &caller]);
        assert!(is_outcome_of(&inside, &race, &[]));
        let again = thrown(&[
            "java.util.concurrent.ForkJoinTask.join (ForkJoinTask.java:1)",
            "shop.Stock.all (Stock.java:9)",
        ]);
        assert!(is_outcome_of(&again, &race, &[]));
        assert!(
            !is_outcome_of(&thrown(&[&caller]), &race, &[]),
            "the program throws it itself"
        );
        let elsewhere = thrown(&[
            "java.util.ArrayList.add (ArrayList.java:455)",
            "shop.Till.add (Till.java:3)",
        ]);
        assert!(!is_outcome_of(&elsewhere, &race, &[]));
    }

    /// Failures of other orders that are reported if runs with and without a schedule fail like this.
    fn reported(in_order: Option<&'static str>, free: Option<&'static str>) -> usize {
        let program = Program::parse("main | t1\nfork t1 |\n | w C.n=1\njoin t1 |");
        let runner = Fake::new(program).altered(move |schedule, _, run| {
            let thrown = if schedule.segments.is_empty() { free } else { in_order };
            run.failures = thrown.map(exception).into_iter().collect();
        });
        let schedule: Schedule = Schedule {
            segments: vec![ravel_schedule::Segment {
                thread: 0,
                until: 1,
                leave: None,
            }],
            threads: vec![ravel_protocol::ThreadName {
                path: "main".into(),
                name: "main".into(),
            }],
            controlled: false,
        };
        let failed = [FailedRun {
            schedule,
            failure: exception("java.lang.Error: 1"),
        }];
        let orders = of_orders(&runner, &failed, &|_| false, &|| false).expect("runs");
        assert!(orders.runs <= 1 + FREE_RUNS && orders.held_back.is_empty());
        orders.found.len()
    }

    #[test]
    fn a_failure_of_time_is_reported_if_it_was_recorded_and_else_held_back() {
        let late = exception("java.util.concurrent.TimeoutException: 5 s");
        let finding = of_recording(&late);
        assert!(finding.shown && finding.evidence == Evidence::Confirmed);
        let program = || Program::parse("main | t1\nfork t1 |\n | w C.n=1\njoin t1 |");
        let failed = |failure: &Failure| FailedRun {
            schedule: Schedule::default(),
            failure: failure.clone(),
        };
        let other = exception("java.lang.IllegalStateException: timed out");
        let all = [failed(&late), failed(&late), failed(&other)];
        let orders = |known: bool| of_orders(&Fake::new(program()), &all, &|_| known, &|| false).expect("runs");
        let asked = orders(false);
        assert!(asked.found.is_empty() && asked.runs == 0);
        assert_eq!(
            held_back(&asked.held_back).as_deref(),
            Some(
                "held back: 2 failures of forced runs alone, where the forcing may be what took too long: \
                 TimeoutException: 5 s ends t1 in shop.Stock.t1; IllegalStateException: timed out ends t1 in shop.Stock.t1"
            )
        );
        assert_eq!(held_back(&orders(true).held_back), None, "it is reported already");
    }

    #[test]
    fn a_failure_of_an_order_must_come_again_and_only_there() {
        assert_eq!(reported(Some("java.lang.Error: 2"), None), 1);
        assert_eq!(reported(None, None), 0, "it does not come again");
        assert_eq!(
            reported(Some("java.lang.Error: 2"), Some("java.lang.Error")),
            0,
            "it needs no order"
        );
        let other = Some("java.net.BindException: in use");
        assert_eq!(reported(Some("java.lang.Error: 2"), other), 1);
    }

    #[test]
    fn an_exit_code_counts_if_the_program_ends_with_0_by_itself() {
        let exit = |code: &str| Failure {
            kind: FailureKind::Exit,
            ..exception(code)
        };
        let finding = finding(&exit("exit code 3"), RunKind::InOrder);
        assert!(
            finding.message.contains("t1 ends it with exit code 3"),
            "{}",
            finding.message
        );
        let outcome = finding.outcome.as_ref().map(|outcome| outcome.kind);
        assert_eq!(
            (outcome, finding.steps[0].op.as_str()),
            (Some(OutcomeKind::Exit), "terminate")
        );
        // A program that checks its results ends like this for the same bug.
        assert!(is_outcome_of(&exit("exit code 1"), &finding, &[]));
        let found = |free: Option<Failure>| {
            let program = Program::parse("main | t1\nfork t1 |\n | w C.n=1\njoin t1 |");
            let runner = Fake::new(program).altered(move |schedule, _, run| {
                run.failures = match schedule.segments.is_empty() {
                    true => free.clone().into_iter().collect(),
                    false => vec![exit("exit code 3")],
                };
            });
            let mut schedule = Schedule::default();
            schedule.run_to(
                &ravel_protocol::ThreadName {
                    path: "main".into(),
                    name: "main".into(),
                },
                1,
            );
            let failed = [FailedRun {
                schedule,
                failure: exit("exit code 3"),
            }];
            let found = of_orders(&runner, &failed, &|_| false, &|| false).expect("runs");
            found.found.len()
        };
        assert_eq!((found(None), found(Some(exit("exit code 1")))), (1, 0));
    }

    #[test]
    fn the_exit_code_of_a_run_with_a_reported_failure_is_not_another_bug() {
        let exit = Failure {
            kind: FailureKind::Exit,
            ..exception("exit code 3")
        };
        let found = |thrown: Option<&'static str>, known: bool| {
            let code = exit.clone();
            let program = Program::parse("main | t1\nfork t1 |\n | w C.n=1\njoin t1 |");
            let runner = Fake::new(program).altered(move |schedule, _, run| {
                if !schedule.segments.is_empty() {
                    run.failures = thrown.map(exception).into_iter().chain([code.clone()]).collect();
                }
            });
            let mut schedule = Schedule::default();
            schedule.run_to(
                &ravel_protocol::ThreadName {
                    path: "main".into(),
                    name: "main".into(),
                },
                1,
            );
            let mut failed = vec![FailedRun {
                schedule: schedule.clone(),
                failure: exit.clone(),
            }];
            failed.extend(thrown.map(|text| FailedRun {
                schedule,
                failure: exception(text),
            }));
            let is_known = move |failure: &Failure| known && failure.kind == FailureKind::Exception;
            let orders = of_orders(&runner, &failed, &is_known, &|| false).expect("runs");
            let kinds = orders.found.iter().filter_map(|(finding, _)| finding.outcome.as_ref());
            kinds.map(|outcome| outcome.kind).collect::<Vec<_>>()
        };
        assert_eq!(found(None, false), [OutcomeKind::Exit]);
        assert_eq!(found(Some("java.lang.Error"), false), [OutcomeKind::Exception]);
        assert!(found(Some("java.lang.Error"), true).is_empty());
    }

    #[test]
    fn locks_of_a_deadlock_are_told_apart() {
        let failure = Failure {
            kind: FailureKind::Deadlock,
            exception: String::new(),
            threads: vec![
                thread("t1", WaitKind::Monitor, "java.lang.Object", "t2"),
                thread("t2", WaitKind::Monitor, "java.lang.Object", "t1"),
            ],
        };
        let found = of_recording(&failure);
        assert_eq!(
            found.message,
            "t1 and t2 deadlock: t1 waits for Object@1, which t2 holds; t2 waits for Object@2, which t1 holds."
        );
        assert_eq!((found.rule, found.evidence), (Rule::LockOrder, Evidence::Harmful));
        assert_eq!(found.steps[0].locks, ["java.lang.Object@2"]);
    }
}
