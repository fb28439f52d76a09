//! Signals that may be lost: a thread has decided to wait, another one passes the critical section in which it gives the signal, and only
//! then the first one takes the lock and waits.
//!
//! No access pattern shows this bug if the state that is waited for lies in a library, and a program that looks at the state again once it
//! has the lock is right. So a recorded wait and a recorded signal on the same lock are no finding by themselves: the order is tried, and
//! is reported only if the thread waits in it and the program comes to a bad end that it has in no serial order.

use ravel_analysis::describe::as_sentence;
use ravel_analysis::finding::{Candidate, EventRef, Evidence, Finding, Rule};
use ravel_analysis::merge::fingerprint;
use ravel_protocol::goal::{CodeMethod, CodeSite, GoalShape, StepKind};
use ravel_trace::names::Names;
use ravel_trace::origin::is_platform;
use ravel_trace::{Event, LockId, Op};
use rustc_hash::FxHashMap;

use super::derive::{CodeGoal, CodeHold, CodeRole, CodeStep, SerialOrder};
use super::places::{code_method, instruction, is_method_entry};
use super::ready::{Ready, goal, short_name};
use crate::proof::standstill;

/// Pairs of a wait and a signal that are tried.
const MOST_SIGNALS: usize = 6;
/// Events of a recorded run from which on signals are tried: shorter ones are tried in other orders under whole schedules.
const LEAST_EVENTS: u64 = 5_000;

/// Where a thread takes the lock of a wait or of a signal.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Section {
    /// The instruction that takes the lock; of a synchronized method the call.
    acquire: CodeSite,
    /// The wait or the notification.
    at: CodeSite,
    /// The method that takes the lock or calls the synchronized method.
    unit: CodeMethod,
    /// The call of that method; none if unknown.
    call: Option<CodeSite>,
}

/// A wait and a signal on the same lock.
struct Signal {
    waiter: Section,
    waker: Section,
}

impl Signal {
    fn ready(&self, finding: Finding) -> Ready {
        Ready {
            finding,
            pattern: self.lost(),
            serial: self.serial_orders(),
            units: Vec::new(),
        }
    }

    /// The signal comes after the decision to wait and before the wait.
    fn lost(&self) -> CodeGoal {
        let waits = CodeStep {
            hold: CodeHold::At(self.waiter.acquire.clone()),
            ..self.waits(1)
        };
        let unit = CodeRole {
            unit: Some(self.waiter.unit.clone()),
            result: None,
        };
        let roles = vec![CodeRole::default(), unit];
        goal(GoalShape::Ordered, roles, vec![self.signals(0, Some(1)), waits])
    }

    /// The thread waits before the signal; the signal comes before the thread decides. Empty if they cannot both be made.
    fn serial_orders(&self) -> Vec<SerialOrder> {
        let Some(call) = &self.waiter.call else {
            return Vec::new();
        };
        let signals = CodeStep {
            hold: CodeHold::Here,
            ..self.signals(1, None)
        };
        let decides = CodeStep {
            role: 1,
            site: call.clone(),
            object: 2,
            hold: CodeHold::Here,
            while_held: None,
            kind: StepKind::Acquisition,
        };
        let ordered = |steps: Vec<CodeStep>| goal(GoalShape::Ordered, vec![CodeRole::default(); 2], steps);
        let (waits, wakes) = (short_name(&self.waiter.unit), short_name(&self.waker.at.method));
        vec![
            SerialOrder {
                roles: [1, 0],
                goal: ordered(vec![self.waits(0), signals]),
                words: format!("the wait of {waits} before {wakes}"),
            },
            SerialOrder {
                roles: [0, 1],
                goal: ordered(vec![self.signals(0, Some(1)), decides]),
                words: format!("{wakes} before {waits}"),
            },
        ]
    }

    fn signals(&self, role: usize, while_held: Option<usize>) -> CodeStep {
        CodeStep {
            role,
            site: self.waker.acquire.clone(),
            object: 0,
            hold: CodeHold::Never,
            while_held,
            kind: StepKind::Acquisition,
        }
    }

    fn waits(&self, role: usize) -> CodeStep {
        CodeStep {
            role,
            site: self.waiter.at.clone(),
            // A condition is another object than its lock.
            object: usize::from(self.waiter.at.member != "wait"),
            hold: CodeHold::Never,
            while_held: None,
            kind: StepKind::Wait,
        }
    }
}

#[cfg(test)]
impl Ready {
    /// A signal between sections that are given by what takes the lock, what waits or signals, and what calls the method.
    pub fn signal(finding: Finding, waiter: [CodeSite; 3], waker: [CodeSite; 3]) -> Ready {
        let section = |[acquire, at, call]: [CodeSite; 3]| Section {
            unit: acquire.method.clone(),
            acquire,
            at,
            call: Some(call),
        };
        let signal = Signal {
            waiter: section(waiter),
            waker: section(waker),
        };
        signal.ready(finding)
    }
}

/// A wait or a notification of the trace, with its section.
#[derive(Debug)]
struct Seen {
    section: Section,
    event: Event,
    index: u64,
}

/// Sees the waits and the signals of a trace go by.
#[derive(Debug, Default)]
pub struct SignalPairs {
    waits: Vec<Seen>,
    signals: Vec<Seen>,
    /// By lock: which waits and which signals it had.
    locks: FxHashMap<LockId, [Vec<usize>; 2]>,
    /// A wait and a signal of two threads on one lock.
    pairs: Vec<(usize, usize)>,
    events: u64,
}

impl SignalPairs {
    /// The next event, with the entries of the methods on the thread's stack and the locks that it had before.
    pub fn event(&mut self, event: &Event, index: u64, stack: &[Event], held: &[(LockId, Event)], names: &Names) {
        self.events = index + 1;
        let (lock, is_wait) = match event.op {
            Op::Wait { lock } => (lock, true),
            Op::Notify { lock, .. } => (lock, false),
            _ => return,
        };
        let Some(section) = section(event, lock, stack, held, names) else {
            return;
        };
        let known = if is_wait { &mut self.waits } else { &mut self.signals };
        let place = known
            .iter()
            .position(|seen| seen.section == section && seen.event.thread == event.thread)
            .unwrap_or_else(|| {
                known.push(Seen {
                    section,
                    event: *event,
                    index,
                });
                known.len() - 1
            });
        let of_lock = self.locks.entry(lock).or_default();
        let own = &mut of_lock[usize::from(!is_wait)];
        if own.contains(&place) {
            return;
        }
        own.push(place);
        for &other in &of_lock[usize::from(is_wait)] {
            let (wait, signal) = if is_wait { (place, other) } else { (other, place) };
            let threads = (self.waits[wait].event.thread, self.signals[signal].event.thread);
            if threads.0 != threads.1 && !self.pairs.contains(&(wait, signal)) {
                self.pairs.push((wait, signal));
            }
        }
    }

    /// What is tried: each with a finding that nothing supports yet.
    pub fn finish(self, names: &Names) -> Vec<Ready> {
        if self.events < LEAST_EVENTS {
            return Vec::new();
        }
        let mut all: Vec<Ready> = Vec::new();
        for (wait, signal) in self.pairs {
            let (wait, given) = (&self.waits[wait], &self.signals[signal]);
            let finding = finding(wait, given, names);
            if all.len() < MOST_SIGNALS && !all.iter().any(|known| known.finding.id == finding.id) {
                let signal = Signal {
                    waiter: wait.section.clone(),
                    waker: given.section.clone(),
                };
                all.push(signal.ready(finding));
            }
        }
        all
    }
}

/// Where the lock of a wait or a notification was taken; none in code of the JDK.
fn section(event: &Event, lock: LockId, stack: &[Event], held: &[(LockId, Event)], names: &Names) -> Option<Section> {
    let (_, taken) = held.iter().rfind(|(other, _)| *other == lock)?;
    let innermost = stack.iter().rposition(|entry| entry.position <= taken.position)?;
    let (acquire, unit) = match is_method_entry(names, taken.site) {
        true => (instruction(names, stack[innermost].site)?, innermost.checked_sub(1)?),
        false => (instruction(names, taken.site)?, innermost),
    };
    let Op::Enter { method } = stack[unit].op else {
        return None;
    };
    let section = Section {
        acquire,
        at: instruction(names, event.site)?,
        unit: code_method(names, method.index())?,
        call: instruction(names, stack[unit].site),
    };
    let of_platform = is_platform(&section.at.method.class) || is_platform(&section.acquire.method.class);
    (!of_platform).then_some(section)
}

fn finding(wait: &Seen, given: &Seen, names: &Names) -> Finding {
    let lock = |event: &Event| match event.op {
        Op::Wait { lock } | Op::Notify { lock, .. } => Some(lock),
        _ => None,
    };
    let step = |seen: &Seen| lock(&seen.event).map(|lock| standstill::step(&seen.event, lock, names));
    let steps: Vec<_> = [given, wait].into_iter().filter_map(step).collect();
    let reference = |seen: &Seen| EventRef {
        index: seen.index,
        thread: seen.event.thread,
        position: seen.event.position,
        location: None,
        lock: lock(&seen.event),
    };
    let code: Vec<String> = steps
        .iter()
        .map(|step| format!("{}.{}", step.class, step.method))
        .collect();
    let rule = Rule::NakedNotify;
    let parts = ["standstill", rule.name()].into_iter();
    let mut variables: Vec<String> = steps.iter().map(|step| step.variable.clone()).collect();
    variables.dedup();
    let name = |seen: &Seen| short_name(&seen.section.at.method);
    Finding {
        analyses: vec!["replay".into()],
        message: as_sentence(format!(
            "{} can miss a signal: {} signals after the decision to wait and before the wait.",
            name(wait),
            name(given)
        )),
        help: "Test the condition again after acquiring the lock, in a loop around the wait.".into(),
        variables,
        steps,
        candidates: vec![Candidate {
            events: vec![reference(given), reference(wait)],
            owners: vec![None; 2],
            ..Candidate::default()
        }],
        ..Finding::new(
            fingerprint(parts.chain(code.iter().map(String::as_str))),
            rule,
            Evidence::Suspected,
        )
    }
}
