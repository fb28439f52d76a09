//! An order in which the program hangs although the recorded run did not: a signal that came before the wait, or a thread that waits
//! while it holds a lock that the signalling thread needs.

use anyhow::Result;
use ravel_analysis::finding::{Evidence, Finding, FindingStep, Outcome, OutcomeKind, Rule};
use ravel_analysis::merge::fingerprint;
use ravel_schedule::Schedule;
use ravel_trace::naming;
use ravel_trace::{Event, LockId, Names, Op, SiteId};
use rustc_hash::FxHashMap;

use super::marks::{op_name, place};
use crate::runner::{Forced, Runner};
use crate::words;

/// The wait and the locks of a thread that never wakes up.
#[derive(Default)]
struct Last {
    /// The wait that it is in.
    wait: Option<(LockId, Event)>,
    /// The locks that it has.
    held: Vec<(LockId, Event)>,
}

/// The finding of an order in which the program hangs, if it does so in two runs out of two and a wait is the cause; and the number of
/// runs made.
pub fn find(runner: &dyn Runner, schedule: &Schedule) -> Result<(Option<Finding>, usize)> {
    // A lost turn does not matter here: only the hang counts, not the path to it.
    if runner.side_by_side(2) < 2 {
        let first = runner.force(schedule, 0)?;
        if first.waiting().is_none() {
            return Ok((None, 1));
        }
        return Ok((alike(&first, &runner.force(schedule, 1)?), 2));
    }
    // A program that hangs needs no processor: both wait at the same time.
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| runner.force(schedule, 1));
        (runner.force(schedule, 0), second.join())
    });
    let second = second.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((alike(&first?, &second?), 2))
}

/// The finding, if the same threads never wake up in both runs.
fn alike(first: &Forced, second: &Forced) -> Option<Finding> {
    let is_same = first.waiting().is_some() && first.waiting() == second.waiting();
    is_same.then(|| finding(second)).flatten()
}

fn finding(run: &Forced) -> Option<Finding> {
    let waiting = words::threads(run.waiting()?);
    let (events, names) = run.trace.as_ref()?;
    let mut threads: FxHashMap<u32, Last> = FxHashMap::default();
    let mut notified: Vec<(LockId, Event)> = Vec::new();
    for event in events {
        let last = threads.entry(event.thread.0).or_default();
        match event.op {
            Op::Acquire { lock, .. } => last.held.push((lock, *event)),
            Op::Resume { lock, .. } => {
                last.wait = None;
                last.held.push((lock, *event));
            }
            Op::Release { lock, .. } | Op::Wait { lock } => {
                if let Some(at) = last.held.iter().rposition(|(held, _)| *held == lock) {
                    last.held.remove(at);
                }
                if matches!(event.op, Op::Wait { .. }) {
                    last.wait = Some((lock, *event));
                }
            }
            Op::Notify { lock, .. } => notified.push((lock, *event)),
            _ => {}
        }
    }
    let mut all: Vec<Last> = threads.into_values().filter(|last| last.wait.is_some()).collect();
    all.sort_by_key(|last| last.wait.map(|(_, event)| event.thread));
    let keeps = all.iter().find(|last| !last.held.is_empty());
    let (rule, steps, message, help) = if let Some(keeper) = keeps {
        let (lock, wait) = keeper.wait?;
        let (kept, taken) = keeper.held.first()?;
        let steps = vec![step(taken, *kept, names), step(&wait, lock, names)];
        let kept = naming::lock::short(&names.lock(*kept).name);
        (
            Rule::LockOrder,
            steps,
            format!(
                "{} waits for a signal while it holds {kept}, which the signalling thread needs: {waiting} never wake up.",
                names.thread(wait.thread).name
            ),
            "Wait on the outermost lock, or release it before the wait: a wait releases only its own lock.",
        )
    } else {
        let passed = |last: &Last| {
            let (lock, wait) = last.wait?;
            let given = notified
                .iter()
                .find(|(other, event)| *other == lock && event.thread != wait.thread)?;
            Some((lock, wait, given.1))
        };
        let (lock, wait, given) = all.iter().find_map(passed)?;
        (
            Rule::NakedNotify,
            vec![step(&given, lock, names), step(&wait, lock, names)],
            format!(
                "{} can miss a signal: if {} signals before the wait, {waiting} never wake up.",
                names.thread(wait.thread).name,
                names.thread(given.thread).name
            ),
            "Set a flag under the lock before the signal, and wait in a loop that tests the flag first.",
        )
    };
    let places = steps.iter().map(|step| format!("{}.{}", step.class, step.method));
    let code: Vec<String> = places.collect();
    let mut variables: Vec<String> = steps.iter().map(|step| step.variable.clone()).collect();
    variables.dedup();
    let parts = ["standstill", rule.name()].into_iter();
    Some(Finding {
        shown: true,
        analyses: vec!["replay".into()],
        message,
        help: help.into(),
        variables,
        steps,
        outcome: Some(Outcome::new(OutcomeKind::Hang, format!("{waiting} never wake up"))),
        ..Finding::new(
            fingerprint(parts.chain(code.iter().map(String::as_str))),
            rule,
            Evidence::Harmful,
        )
    })
}

pub(crate) fn step(event: &Event, lock: LockId, names: &Names) -> FindingStep {
    let (class, method, file, line) = place(event, SiteId(0), names);
    let lock = names.lock(lock).name.clone();
    FindingStep {
        thread: names.thread(event.thread).name.clone(),
        op: op_name(&event.op).into(),
        // A thread that waits or notifies holds the lock.
        locks: match event.op {
            Op::Wait { .. } | Op::Notify { .. } => vec![lock.clone()],
            _ => Vec::new(),
        },
        variable: lock,
        class,
        method,
        file,
        line,
        ..FindingStep::default()
    }
}
