//! The judgement of evidence, on programs that run in microseconds.

mod budget;
mod deadlocks;
mod equivalent;
mod harm;
mod others;
mod paths;
mod retell;
mod serial;
mod view;

use std::time::Duration;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, EventRef, Evidence, Finding, OutcomeKind, Rule, UnitKind, UnitSpan};
use ravel_analysis::limit::Limit;
use ravel_protocol::{Cause, Slip};
use ravel_trace::{Event, MemoryTrace, Op, Source, Value};

use super::{Budget, Recorded, Tally, prove_with};
use crate::observer::Silent;
use crate::runner::Forced;
use crate::runner::fake::{Fake, Program};

/// Two threads that count, each in a method of its own.
const COUNTER: &str = "
    main    | t1             | t2
    fork t1 |                |
    fork t2 |                |
            | enter C.add()I |
            | r C.n          |
            | w C.n+1        |
            | exit           |
            |                | enter C.add()I
            |                | r C.n
            |                | w C.n+1
            |                | exit
    join t1 |                |
    join t2 |                |
    r C.n   |                |
";
/// `t1` reads, `t2` adds, `t1` writes.
const LOST: [(&str, u32); 3] = [("t1", 5), ("t2", 10), ("t1", 6)];
const ADDS: [(&str, u32, u32); 2] = [("t1", 4, 7), ("t2", 8, 11)];

fn fake(text: &str) -> Fake {
    Fake::new(Program::parse(text))
}

/// The event of a thread on a line of the program.
fn at(trace: &MemoryTrace, thread: &str, line: u32) -> EventRef {
    let names = trace.names();
    let is_it = |event: &Event| names.thread(event.thread).name == thread && names.site(event.site).line == line;
    let index = trace.events().iter().position(is_it).expect("an event on the line");
    let event = trace.events()[index];
    EventRef {
        index: index as u64,
        thread: event.thread,
        position: event.position,
        location: event.op.location(),
        lock: match event.op {
            Op::Acquire { lock, .. } => Some(lock),
            _ => None,
        },
    }
}

/// A finding of events (thread and line) in units (thread, first and last line).
fn finding(fake: &Fake, rule: Rule, events: &[(&str, u32)], units: &[(&str, u32, u32)]) -> Finding {
    let trace = fake.recorded();
    let owner = |(thread, line): &(&str, u32)| {
        units
            .iter()
            .position(|(of, first, last)| of == thread && (first..=last).contains(&line))
    };
    let candidate = Candidate {
        events: events.iter().map(|(thread, line)| at(&trace, thread, *line)).collect(),
        owners: events.iter().map(owner).collect(),
        units: units
            .iter()
            .map(|(thread, first, last)| {
                let begin = at(&trace, thread, *first);
                UnitSpan {
                    thread: begin.thread,
                    begin,
                    end: Some(at(&trace, thread, *last)),
                    kind: UnitKind::Method,
                    pass: false,
                }
            })
            .collect(),
        observed: false,
    };
    Finding {
        candidates: vec![candidate],
        ..Finding::new(format!("{events:?}"), rule, Evidence::Predicted)
    }
}

fn kept(trace: &MemoryTrace) -> Option<&[Event]> {
    Some(trace.events())
}

const HOUR: Duration = Duration::from_secs(3600);

fn prove_in(total: Duration, fake: &Fake, findings: &mut Vec<Finding>) -> Result<Tally> {
    let mut trace = fake.recorded();
    let recorded = Recorded::read(&mut trace, (findings, &[]), kept, || true)?;
    let budget = Budget {
        total,
        run: Duration::from_secs(1),
        jobs: 1,
        repeats: 0,
    };
    prove_with(&recorded, fake, findings, budget, (fake, fake.start() + total), &Silent)
}

/// What is known of one finding in the end.
fn judged(fake: &Fake, finding: Finding) -> Finding {
    let mut findings = vec![finding];
    prove_in(HOUR, fake, &mut findings).expect("a judgement");
    findings.swap_remove(0)
}

fn atomicity(fake: &Fake) -> Finding {
    judged(fake, finding(fake, Rule::Atomicity, &LOST, &ADDS))
}

fn told(finding: &Finding) -> (Evidence, Option<OutcomeKind>, &str) {
    let outcome = finding.outcome.as_ref();
    let message = outcome.map_or("", |outcome| outcome.message.as_str());
    (finding.evidence, outcome.map(|outcome| outcome.kind), message)
}

fn limit(finding: &Finding) -> &str {
    finding.limit.as_ref().map_or("", Limit::as_str)
}

/// What a variable holds at the end of a run.
fn last(run: &Forced, name: &str) -> Option<i64> {
    let (events, names) = run.trace.as_ref()?;
    let of = |event: &&Event| {
        let field = event.op.location().and_then(|location| names.field_of(location));
        field.is_some_and(|field| names.field(field).name == name)
    };
    match events.iter().rev().find(of)?.op {
        Op::Read {
            value: Value::Exact(value),
            ..
        } => Some(value),
        _ => None,
    }
}

fn slip(cause: Cause) -> Slip {
    Slip {
        turn: 1,
        thread: "main/0".into(),
        at: 2,
        until: 9,
        cause,
    }
}
