//! The judgement of evidence, on programs that run in microseconds.

use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::finding::{Candidate, EventRef, Evidence, Finding, Outcome, Rule, UnitKind, UnitRef, UnitSpan};
use ravel_analysis::limit::Limit;
use ravel_protocol::{Cause, EndedBy, Schedule, Slip, Verdict};
use ravel_trace::{Event, MemoryTrace, Op, Source, Value};

use super::divergence::{Divergence, RecordedPath};
use super::runs::Runs;
use super::{Budget, Recorded, Tally, is_short, is_shown, promise, prove_with, share, standstill};
use crate::observer::Silent;
use crate::runner::fake::{Fake, Program};
use crate::runner::{Forced, Runner as _};

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

/// One thread adds, the other one sets: the serial orders end differently.
const SETTER: &str = "
    main    | t1             | t2
    fork t1 |                |
    fork t2 |                |
            | enter C.add()I |
            | r C.n          |
            | w C.n+1        |
            | exit           |
            |                | enter C.set()V
            |                | r C.m
            |                | w C.n=5
            |                | exit
    join t1 |                |
    join t2 |                |
    r C.n   |                |
";

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
        id: format!("{events:?}"),
        rule,
        evidence: Evidence::Predicted,
        shown: false,
        patterns: Vec::new(),
        analyses: Vec::new(),
        variables: Vec::new(),
        units: Vec::new(),
        steps: Vec::new(),
        outcome: None,
        serial: Vec::new(),
        limit: None,
        also: Vec::new(),
        schedule: Vec::new(),
        replay: String::new(),
        message: String::new(),
        help: String::new(),
        candidates: vec![candidate],
    }
}

fn kept(trace: &MemoryTrace) -> Option<&[Event]> {
    Some(trace.events())
}

/// Where a run under a schedule leaves the recorded path.
fn divergence(fake: &Fake, schedule: &Schedule) -> Option<Divergence> {
    let trace = fake.recorded();
    let run = fake.force(schedule, 0).expect("a run");
    RecordedPath::new(trace.events(), trace.names()).first_divergence(schedule, &run)
}

const HOUR: Duration = Duration::from_secs(3600);

fn prove_in(total: Duration, fake: &Fake, findings: &mut Vec<Finding>) -> Result<Tally> {
    let mut trace = fake.recorded();
    let recorded = Recorded::read(&mut trace, (findings, &[]), kept)?;
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

fn told(finding: &Finding) -> (Evidence, &str, &str) {
    let outcome = finding.outcome.as_ref();
    let (kind, message) = outcome.map_or(("", ""), |o| (o.kind.as_str(), o.message.as_str()));
    (finding.evidence, kind, message)
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

#[test]
fn a_lost_update_is_told_by_the_value_that_no_serial_order_gives() {
    let finding = atomicity(&fake(COUNTER));
    let value = "C.n was 1; every serial order gives 2";
    assert_eq!(told(&finding), (Evidence::Harmful, "value", value));
    assert!(finding.shown && finding.limit.is_none());
    assert!(!finding.schedule.is_empty());
}

#[test]
fn all_serial_orders_are_run_and_named() {
    let finding = atomicity(&fake(SETTER));
    let value = "C.n was 1; every serial order gives 5 or 6";
    assert_eq!(told(&finding), (Evidence::Harmful, "value", value));
}

#[test]
fn an_order_in_which_a_unit_waits_for_the_other_is_no_serial_order() {
    let waits = |_: &Schedule, _: usize, run: &mut Forced| {
        if last(run, "n") == Some(5) {
            let slip = Some(slip(Cause::WaitedForThread { lock: None }));
            run.verdict = Some(Verdict::Complete { slip });
        }
    };
    let finding = atomicity(&fake(SETTER).altered(waits));
    assert_eq!(told(&finding).2, "C.n was 1; every serial order gives 6");
}

#[test]
fn an_order_that_lost_a_turn_for_another_reason_still_counts() {
    let sleeps = |_: &Schedule, _: usize, run: &mut Forced| {
        if last(run, "n") == Some(5) {
            let slip = Some(slip(Cause::Slept));
            run.verdict = Some(Verdict::Complete { slip });
        }
    };
    let finding = atomicity(&fake(SETTER).altered(sleeps));
    assert_eq!(told(&finding).2, "C.n was 1; every serial order gives 5 or 6");
}

/// A run that is not the one of the pattern comes to nothing.
fn no_serial_run(_: &Schedule, _: usize, run: &mut Forced) {
    if last(run, "n") != Some(1) {
        run.verdict = Some(Verdict::Failed {
            slip: slip(Cause::ProgramEnded),
        });
    }
}

#[test]
fn without_any_serial_run_nothing_is_known_of_harm() {
    let finding = atomicity(&fake(COUNTER).altered(no_serial_run));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
    assert_eq!(
        limit(&finding),
        "no serial order of the units could be forced, so nothing is known of harm"
    );
}

#[test]
fn one_serial_order_of_two_does_not_stand_for_every_one() {
    let one_fails = |_: &Schedule, _: usize, run: &mut Forced| {
        if last(run, "n") == Some(6) {
            let slip = slip(Cause::ProgramEnded);
            run.verdict = Some(Verdict::Failed { slip });
        }
    };
    let finding = atomicity(&fake(SETTER).altered(one_fails));
    let value = "C.n was 1; the one serial order tried gives 5";
    assert_eq!(told(&finding), (Evidence::Confirmed, "value", value));
    assert_eq!(
        limit(&finding),
        "1 of the serial orders of the units could not be run, so it is not certain that this is harm"
    );
}

#[test]
fn an_access_outside_any_unit_is_a_unit_of_its_own() {
    let program = fake(
        "
        main    | t1             | t2
        fork t1 |                |
        fork t2 |                |
                | enter C.add()I |
                | r C.n          |
                | w C.n+1        |
                | exit           |
                |                | w C.n=5
        join t1 |                |
        join t2 |                |
        r C.n   |                |
    ",
    );
    let events = [("t1", 5), ("t2", 8), ("t1", 6)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &[("t1", 4, 7)]));
    // A free run sets after it has added; to add to 5 is a serial order as well.
    let value = "C.n was 1; every serial order gives 5 or 6";
    assert_eq!(told(&finding), (Evidence::Harmful, "value", value));
    assert!(!program.made().contains(&Schedule::default()));
}

#[test]
fn a_finding_keeps_what_its_serial_orders_did() {
    let finding = atomicity(&fake(SETTER));
    let mut runs: Vec<(String, String, String)> = finding
        .serial
        .iter()
        .map(|run| {
            let steps: Vec<String> = run
                .steps
                .iter()
                .map(|step| format!("{} {} {}", step.thread, step.op, step.variable))
                .collect();
            (run.threads.join(" "), steps.join(", "), run.outcome.clone())
        })
        .collect();
    runs.sort();
    let told = |threads: &str, steps: &str, outcome: &str| (threads.to_owned(), steps.to_owned(), outcome.to_owned());
    assert_eq!(
        runs,
        [
            told("t1 t2", "t1 read C.n, t1 write C.n, t2 write C.n", "C.n was 5"),
            told("t2 t1", "t2 write C.n, t1 read C.n, t1 write C.n", "C.n was 6"),
        ]
    );
}

#[test]
fn a_pattern_that_ends_like_a_serial_order_is_confirmed_and_no_more() {
    let program = fake(
        "
        main    | t1              | t2
        fork t1 |                 |
        fork t2 |                 |
                | enter C.look()V |
                | r C.n           |
                | r C.n           |
                | exit            |
                |                 | enter C.set()V
                |                 | w C.n=1
                |                 | exit
        join t1 |                 |
        join t2 |                 |
        r C.n   |                 |
    ",
    );
    let events = [("t1", 5), ("t2", 9), ("t1", 6)];
    let units = [("t1", 4, 7), ("t2", 8, 10)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    let normal = "the pattern happened; this time it had no visible effect";
    assert_eq!(told(&finding), (Evidence::Confirmed, "normal", normal));
    assert_eq!(
        limit(&finding),
        "its forced runs ended as a serial order of the units ends"
    );
    assert!(!finding.shown);
}

#[test]
fn an_end_that_cannot_be_compared_is_not_called_that_of_a_serial_order() {
    let alone_fails = |schedule: &Schedule, _: usize, run: &mut Forced| {
        if schedule.segments.iter().any(|segment| segment.until >= 20_000) {
            run.trace = None;
            run.verdict = Some(Verdict::Failed {
                slip: slip(Cause::MadeNoStep),
            });
        }
    };
    let mut text = String::from("main | t1 | t2 | t3\nfork t1 | | |\nfork t2 | | |\nfork t3 | | |\n");
    for column in ["| {} | |", "| | {} |", "| | | {}"] {
        for operation in ["enter C.add()V", "r C.n", "w C.n+1", "exit"] {
            text.push_str(&column.replace("{}", operation));
            text.push('\n');
        }
    }
    text.push_str("join t1 | | |\njoin t2 | | |\njoin t3 | | |\n");
    let events = [("t1", 6), ("t2", 11), ("t1", 7)];
    let units = [("t1", 5, 8), ("t2", 9, 12)];
    let program = fake(&text);
    let harmful = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    assert_eq!(harmful.evidence, Evidence::Harmful, "{:?}", harmful.limit);
    let program = fake(&text).altered(alone_fails);
    let confirmed = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    assert_eq!(confirmed.evidence, Evidence::Confirmed);
    assert!(
        limit(&confirmed).ends_with("could not be compared with that of serial orders"),
        "{:?}",
        confirmed.limit
    );
}

#[test]
fn an_exception_that_no_serial_order_throws_is_harm() {
    let program = fake(
        "
        main    | t1                   | t2
        fork t1 |                      |
        fork t2 |                      |
                | enter C.use()V       |
                | r C.n                |
                | skip 1 2             |
                | r C.n                |
                | throw 0 NullPointer: n |
                | exit                 |
                |                      | enter C.clear()V
                |                      | w C.n=1
                |                      | exit
        join t1 |                      |
        join t2 |                      |
    ",
    );
    let events = [("t1", 5), ("t2", 11), ("t1", 7)];
    let units = [("t1", 4, 9), ("t2", 10, 12)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    assert_eq!(told(&finding), (Evidence::Harmful, "exception", "NullPointer: n"));
    let thread = finding.outcome.and_then(|outcome| outcome.thread);
    assert_eq!(thread.as_deref(), Some("t1"));
}

#[test]
fn an_exception_that_serial_orders_throw_too_is_no_harm() {
    let dies = |_: &Schedule, _: usize, run: &mut Forced| {
        if let Some((_, names)) = &mut run.trace {
            names.threads[1].exception = "Boom: always".into();
        }
    };
    let finding = atomicity(&fake(COUNTER).altered(dies));
    assert_eq!(told(&finding).1, "value");
}

#[test]
fn an_exit_code_of_its_own_is_harm() {
    let finding = atomicity(&fake(&format!("{COUNTER}    exitcode |  |\n")));
    let message = "the program ended with exit code 1";
    assert_eq!(told(&finding), (Evidence::Harmful, "exit", message));
}

#[test]
fn a_trace_that_lacks_some_synchronisation_confirms_no_race() {
    let race = |partial: bool| {
        let program = fake(COUNTER).altered(move |_, _, run| run.partial = partial);
        let events = [("t1", 6), ("t2", 10)];
        judged(&program, finding(&program, Rule::DataRace, &events, &[])).evidence
    };
    assert_eq!(race(false), Evidence::Harmful);
    assert_eq!(race(true), Evidence::Predicted);
}

#[test]
fn an_exit_code_that_tells_of_success_is_no_harm() {
    let text = COUNTER.replace("    r C.n   |                |\n", "    w C.n=9 |                |\n");
    let finding = atomicity(&fake(&text).altered(|_, _, run| {
        let events = run.trace.as_ref().map_or(&[][..], |(events, _)| events);
        let is_one = |event: &&Event| {
            matches!(
                event.op,
                Op::Write {
                    value: Value::Exact(1),
                    ..
                }
            )
        };
        let lost = events.iter().filter(is_one).count() == 2;
        run.status = std::os::unix::process::ExitStatusExt::from_raw(if lost { 0 } else { 256 });
    }));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

#[test]
fn a_deadlock_of_other_threads_is_not_credited_to_the_finding() {
    let blocks = |threads: [&str; 2]| {
        let threads: Vec<String> = threads.map(str::to_string).to_vec();
        let finding = atomicity(&fake(COUNTER).altered(move |_, _, run| {
            if last(run, "n") == Some(1) {
                let threads = threads.clone();
                run.verdict = Some(Verdict::Deadlock { threads, slip: None });
                run.ended_by = Some(EndedBy::Deadlock);
                run.whole = false;
            }
        }));
        (finding.evidence, finding.outcome.map(|outcome| outcome.kind))
    };
    assert_eq!(blocks(["t8", "t9"]), (Evidence::Confirmed, Some("normal".into())));
    assert_eq!(blocks(["t1", "t9"]), (Evidence::Harmful, Some("deadlock".into())));
}

#[test]
fn a_deadlock_of_other_threads_does_not_show_a_circle_of_locks() {
    let program = fake(CROSSED).altered(|_, _, run| {
        let threads = vec!["t8".to_string(), "t9".to_string()];
        run.verdict = Some(Verdict::Deadlock { threads, slip: None });
        run.ended_by = Some(EndedBy::Deadlock);
    });
    let finding = judged(&program, finding(&program, Rule::LockOrder, &INNER, &[]));
    assert_eq!(told(&finding).0, Evidence::Witnessed);
    assert_eq!(limit(&finding), "other threads blocked each other");
}

#[test]
fn harm_to_a_variable_that_the_finding_is_not_about_does_not_count() {
    // Both counts are lost at once.
    let program = fake(
        "
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
                |                | r C.m
                |                | exit
        join t1 |                |
        join t2 |                |
        r C.n   |                |
    ",
    );
    let units = [("t1", 4, 7), ("t2", 8, 12)];
    let about = |variable: &str| {
        let events = [("t1", 5), ("t2", 10), ("t2", 11), ("t1", 6)];
        let mut finding = finding(&program, Rule::Atomicity, &events, &units);
        finding.variables = vec![variable.to_string()];
        judged(&program, finding).evidence
    };
    assert_eq!(about("C.n"), Evidence::Harmful);
    assert_eq!(about("C.m"), Evidence::Confirmed);
}

#[test]
fn results_that_do_not_go_together_are_harm() {
    // Both get the same number, and the last write hides the count.
    let program = fake(
        "
        main    | t1             | t2
        fork t1 |                |
        fork t2 |                |
                | enter C.add()I |
                | r C.n          |
                | w C.n+1        |
                | ret            |
                | exit           |
                |                | enter C.add()I
                |                | r C.n
                |                | w C.n+1
                |                | ret
                |                | exit
        join t1 |                |
        join t2 |                |
        w C.n=9 |                |
    ",
    );
    let events = [("t1", 5), ("t2", 11), ("t1", 6)];
    let units = [("t1", 4, 8), ("t2", 9, 13)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    let (evidence, _, message) = told(&finding);
    assert_eq!(evidence, Evidence::Harmful);
    assert!(
        message.contains("C.add in t1 returned 0 and C.add in t2 returned 0; every serial order gives"),
        "{message}"
    );
}

#[test]
fn output_that_no_serial_order_prints_is_harm() {
    let finding = atomicity(&fake(&format!("{COUNTER}    print |  |\n    w C.n=9 | |\n")));
    let message = "the program printed \"1\", which no serial order prints";
    assert_eq!(told(&finding), (Evidence::Harmful, "output", message));
}

#[test]
fn output_that_differs_from_run_to_run_tells_nothing() {
    let chatters = |_: &Schedule, number: usize, run: &mut Forced| {
        run.output = format!("{number} {:?}", last(run, "n")).into_bytes();
    };
    let text = COUNTER.replace("    r C.n   |                |\n", "    w C.n=9 |                |\n");
    let finding = atomicity(&fake(&text).altered(chatters));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

fn hangs(run: &mut Forced) {
    let threads = vec!["t1".to_string(), "t2".to_string()];
    run.verdict = Some(Verdict::Hang { threads, slip: None });
    run.ended_by = Some(EndedBy::Hang);
    run.whole = false;
}

#[test]
fn a_hang_that_no_serial_order_has_is_harm() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| {
        if last(run, "n") == Some(1) {
            hangs(run);
        }
    }));
    let message = "t1 and t2 wait, and no thread is left to wake them; every serial order ends";
    assert_eq!(told(&finding), (Evidence::Harmful, "hang", message));
}

#[test]
fn a_hang_that_a_serial_order_has_too_is_no_harm() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| hangs(run)));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

#[test]
fn a_run_that_takes_too_long_is_a_hang_without_threads() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| {
        if last(run, "n") == Some(1) {
            run.timed_out = true;
            run.verdict = None;
        }
    }));
    let message = "the program did not end; every serial order does";
    assert_eq!(told(&finding), (Evidence::Harmful, "hang", message));
}

#[test]
fn harm_that_cannot_be_had_twice_is_not_reported() {
    let finding = atomicity(&fake(COUNTER).altered(|_, number, run| {
        if last(run, "n") == Some(1) && number == 0 {
            hangs(run);
        } else if let Some((events, _)) = &mut run.trace
            && number > 0
        {
            // The final value is as any serial order has it.
            events.retain(|event| event.thread.0 != 0);
        }
    }));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

/// Two threads that take two locks in opposite orders.
const CROSSED: &str = "
    main    | t1    | t2
    fork t1 |       |
    fork t2 |       |
            | acq a |
            | acq b |
            | rel b |
            | rel a |
            |       | acq b
            |       | acq a
            |       | rel a
            |       | rel b
    join t1 |       |
    join t2 |       |
";
const INNER: [(&str, u32); 2] = [("t1", 5), ("t2", 9)];

#[test]
fn locks_in_opposite_orders_deadlock() {
    let program = fake(CROSSED);
    let finding = judged(&program, finding(&program, Rule::LockOrder, &INNER, &[]));
    let message = "t1 and t2 wait for each other";
    assert_eq!(told(&finding), (Evidence::Harmful, "deadlock", message));
}

#[test]
fn a_deadlock_that_happens_once_is_none() {
    let program = fake(CROSSED).altered(|_, number, run| {
        if number > 0 {
            run.verdict = Some(Verdict::Complete { slip: None });
            run.ended_by = None;
        }
    });
    let finding = judged(&program, finding(&program, Rule::LockOrder, &INNER, &[]));
    assert_eq!(told(&finding).0, Evidence::Witnessed);
    assert_eq!(limit(&finding), "the threads did not block each other");
}

#[test]
fn a_program_that_locks_up_by_itself_is_told_by_the_threads_of_the_circle() {
    // The recorded run stops where both threads want what the other one has; a third one holds a lock beside them.
    let program = fake(
        "
        main     | a, b  | c     | d
        fork a, b |      |       |
        fork c   |       |       |
        fork d   |       |       |
                 | acq x |       |
                 |       | acq y |
                 |       |       | acq z
                 | acq y |       |
                 |       | acq x |
    ",
    )
    .altered(|_, _, run| {
        let threads = vec!["a, b".to_string(), "c".to_string()];
        run.verdict = Some(Verdict::Deadlock { threads, slip: None });
        run.ended_by = Some(EndedBy::Deadlock);
    });
    let mut findings = Vec::new();
    let tally = prove_in(HOUR, &program, &mut findings).expect("a judgement");
    let [found] = findings.as_slice() else {
        panic!("{} findings", findings.len())
    };
    assert_eq!(found.rule, Rule::LockOrder);
    let holders: Vec<&str> = found.steps.iter().map(|step| step.thread.as_str()).collect();
    assert_eq!(holders, ["a, b", "c"]);
    assert_eq!((tally.runs, tally.forced.len()), (2, 1));
}

#[test]
fn an_order_after_which_nothing_moves_is_a_finding_if_it_comes_twice() {
    // The signal comes before anyone waits for it.
    let text = "
        main    | t1       | t2
        fork t1 |          |
        fork t2 |          |
                | acq m    |
                | notify m |
                | rel m    |
                |          | acq m
                |          | wait m
                |          | rel m
    ";
    let (found, runs) = standstill::find(&fake(text), &Schedule::default()).expect("runs");
    let found = found.expect("a standstill");
    assert_eq!((found.rule, runs), (Rule::NakedNotify, 2));
    assert_eq!(told(&found).2, "t2 wait without end");
    let once = fake(text).altered(|_, number, run| {
        if number > 0 {
            run.verdict = Some(Verdict::Complete { slip: None });
        }
    });
    let (found, runs) = standstill::find(&once, &Schedule::default()).expect("runs");
    assert_eq!((found, runs), (None, 2));
}

#[test]
fn a_run_without_a_trace_says_why() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| {
        run.trace = None;
        run.verdict = None;
        run.remark = "the JVM was killed".into();
    }));
    assert_eq!(told(&finding).0, Evidence::Witnessed);
    assert_eq!(
        limit(&finding),
        "the run left no trace: it ended with exit status: 0 (the JVM was killed)"
    );
}

#[test]
fn a_lost_schedule_is_told_by_the_turn_that_was_lost() {
    let loses = |_: &Schedule, _: usize, run: &mut Forced| {
        let slip = Some(slip(Cause::WaitedOutside));
        run.verdict = Some(Verdict::Complete { slip });
        if let Some((events, _)) = &mut run.trace {
            events.truncate(5);
        }
    };
    let finding = atomicity(&fake(COUNTER).altered(loses));
    let why = "the run left the schedule: thread main/0 waited for something outside at point 2, before point 9";
    assert!(limit(&finding).starts_with(why), "{}", limit(&finding));
}

#[test]
fn a_run_that_goes_another_way_the_first_time_is_tried_again() {
    let busy = |_: &Schedule, number: usize, run: &mut Forced| {
        if number == 0
            && last(run, "n") == Some(1)
            && let Some((events, _)) = &mut run.trace
        {
            events.retain(|event| event.thread.0 == 0);
        }
    };
    assert_eq!(told(&atomicity(&fake(COUNTER).altered(busy))).0, Evidence::Harmful);
}

/// A counter whose first thread reads something else first, or not: the number is what makes it skip that.
fn detour(skips: i64) -> Program {
    let first = format!("\n            | skip {skips} 1 |\n            | r D.x |\n");
    let text = COUNTER.replacen("\n            | r C.n          |\n", &first, 1);
    // The read of the count follows the detour.
    let text = text.replacen("| r D.x |\n", "| r D.x |\n            | r C.n |\n", 1);
    Program::parse(&text)
}

#[test]
fn positions_that_moved_are_learnt_from_the_first_run() {
    let program = Fake::new(detour(7)).recorded_as(&detour(0));
    let events = [("t1", 7), ("t2", 12), ("t1", 8)];
    let units = [("t1", 4, 9), ("t2", 10, 13)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    let value = "C.n was 1; every serial order gives 2";
    assert_eq!(told(&finding), (Evidence::Harmful, "value", value));
}

#[test]
fn a_divergence_names_the_value_that_was_read_instead() {
    let program = fake(
        "
        main    | t1        | t2
        fork t1 |           |
        fork t2 |           |
                | r C.n     |
                | skip 0 1  |
                | r C.other |
                | r C.m     |
                |           | w C.n=1
    ",
    );
    let text = "ravel schedule 1\nthread main/1 \"t2\"\nthread main/0 \"t1\"\nrun main/1 to 1\nrun main/0 to 2\n";
    let schedule = Schedule::parse(text).expect("a schedule");
    let place = divergence(&program, &schedule).expect("a divergence");
    assert!(place.by_order);
    assert!(
        place.words.contains("thread t1 at point 2: expected read C.m")
            && place.words.contains("after it had read C.n as 1 (recorded: 0)"),
        "{}",
        place.words
    );
}

#[test]
fn a_divergence_without_another_value_is_not_by_order() {
    let program = Fake::new(detour(7)).recorded_as(&detour(0));
    let text = "ravel schedule 1\nthread main/0 \"t1\"\nrun main/0 to 3\n";
    let schedule = Schedule::parse(text).expect("a schedule");
    let place = divergence(&program, &schedule).expect("a divergence");
    assert!(!place.by_order);
    assert!(place.words.contains("random numbers"), "{}", place.words);
    assert_eq!(divergence(&fake(COUNTER), &schedule), None);
}

/// Three pairs of methods, on three variables.
fn three_counters() -> Fake {
    let mut text = String::from("main | t1 | t2\nfork t1 | |\nfork t2 | |\n");
    for field in ["a", "b", "c"] {
        for column in ["| {} |", "| | {}"] {
            for operation in ["enter C.M()I", "r C.F", "w C.F+1", "exit"] {
                let operation = operation.replace(['F', 'M'], field);
                text.push_str(&column.replace("{}", &operation));
                text.push('\n');
            }
        }
    }
    text.push_str("join t1 | |\njoin t2 | |\n");
    fake(&text)
}

fn three_findings(fake: &Fake) -> Vec<Finding> {
    let one = |first: u32| {
        let events = [("t1", first + 1), ("t2", first + 6), ("t1", first + 2)];
        let units = [("t1", first, first + 3), ("t2", first + 4, first + 7)];
        finding(fake, Rule::Atomicity, &events, &units)
    };
    [4, 12, 20].map(one).to_vec()
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn all_findings_are_proven_if_there_is_time() {
    let program = three_counters().taking(SECOND);
    let mut findings = three_findings(&program);
    let tally = prove_in(HOUR, &program, &mut findings).expect("a judgement");
    let evidence: Vec<Evidence> = findings.iter().map(|finding| finding.evidence).collect();
    assert_eq!(evidence, [Evidence::Harmful; 3]);
    assert_eq!((tally.happened, tally.forced.len()), (3, 3));
    assert_eq!(tally.runs, program.made().len());
}

#[test]
fn the_budget_is_kept() {
    let program = three_counters().taking(SECOND);
    let mut findings = three_findings(&program);
    prove_in(2 * SECOND, &program, &mut findings).expect("a judgement");
    // A finding whose time is over may still end the pair of runs that it is in.
    assert!(program.made().len() <= 4, "{} runs", program.made().len());
    assert!(
        findings
            .iter()
            .any(|finding| limit(finding) == "it was not tried: the time was used up (--budget)")
    );
}

#[test]
fn no_finding_takes_the_time_of_the_others() {
    let program = three_counters().taking(SECOND);
    let mut findings = three_findings(&program);
    let tally = prove_in(9 * SECOND, &program, &mut findings).expect("a judgement");
    assert_eq!(tally.forced.len(), 3, "{:?}", tally.reasons);
}

#[test]
fn a_share_is_a_fair_part_and_at_least_half_a_run() {
    let now = Instant::now();
    let deadline = now + 60 * SECOND;
    assert_eq!(share(now, deadline, 1, 6, SECOND), now + 10 * SECOND);
    assert_eq!(share(now, deadline, 2, 6, SECOND), now + 20 * SECOND);
    assert_eq!(share(now, deadline, 1, 600, SECOND), now + SECOND / 2);
    assert_eq!(share(now, deadline, 1, 1, 600 * SECOND), deadline);
    assert_eq!(share(deadline, now, 1, 3, SECOND), now);
}

#[test]
fn nothing_is_run_after_an_interruption() {
    let program = fake(COUNTER).interrupted_after(0);
    let finding = atomicity(&program);
    assert_eq!(limit(&finding), "it was not tried: interrupted");
    assert_eq!((finding.evidence, program.made().len()), (Evidence::Predicted, 0));
}

/// The runs that the first of three findings needs.
fn runs_of_the_first() -> usize {
    let program = three_counters();
    let mut findings = three_findings(&program);
    findings.truncate(1);
    prove_in(HOUR, &program, &mut findings).expect("a judgement").runs
}

#[test]
fn an_interruption_keeps_what_is_known() {
    let needed = runs_of_the_first();
    let program = three_counters().interrupted_after(needed + 1);
    let mut findings = three_findings(&program);
    prove_in(HOUR, &program, &mut findings).expect("a judgement");
    assert_eq!(findings[0].evidence, Evidence::Harmful);
    assert!(findings[1].evidence < Evidence::Harmful);
    assert_eq!(limit(&findings[2]), "it was not tried: interrupted");
    // Two runs out of two are one question.
    assert!(program.made().len() <= needed + 2);
}

#[test]
fn known_miss_an_interruption_right_after_the_last_run_that_is_needed_leaves_harm_unproven() {
    let program = three_counters().interrupted_after(runs_of_the_first());
    let mut findings = three_findings(&program);
    prove_in(HOUR, &program, &mut findings).expect("a judgement");
    // All runs are there, but the last comparison with the serial orders does not look at them any more.
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
}

#[test]
fn a_program_that_cannot_be_started_any_more_is_an_error_and_keeps_what_is_known() {
    let program = three_counters().failing_after(runs_of_the_first());
    let mut findings = three_findings(&program);
    let error = prove_in(HOUR, &program, &mut findings).expect_err("no program");
    assert_eq!(error.to_string(), "the program cannot be started");
    assert_eq!(findings[0].evidence, Evidence::Harmful);
    assert!(findings[1].evidence < Evidence::Confirmed);
}

#[test]
fn a_schedule_is_run_once_for_all_who_ask() {
    let program = fake(COUNTER);
    let runs = Runs::new(&program);
    let empty = Schedule::default();
    assert!(runs.get(&empty, 0).expect("a run").1);
    assert!(!runs.get(&empty, 0).expect("a run").1);
    assert!(runs.get(&empty, 1).expect("a run").1);
    assert_eq!(program.made().len(), 2);
    runs.clear();
    assert!(runs.get(&empty, 0).expect("a run").1);
}

#[test]
fn a_finding_without_an_occurrence_costs_no_run() {
    let program = fake(COUNTER);
    let mut none = finding(&program, Rule::Atomicity, &LOST, &ADDS);
    none.candidates.clear();
    let none = judged(&program, none);
    assert_eq!(limit(&none), "the trace has no occurrence of it that could be forced");
    assert!(program.made().is_empty());
}

#[test]
fn the_default_view_shows_harm_races_and_certain_units() {
    let program = fake(COUNTER);
    let mut one = finding(&program, Rule::Atomicity, &LOST, &ADDS);
    let unit = |kind| UnitRef {
        thread: "t1".into(),
        method: "C.add()I".into(),
        kind,
    };
    let mut shown = |evidence, rule, units: &[UnitKind]| {
        (one.evidence, one.rule) = (evidence, rule);
        one.units = units.iter().map(|kind| unit(*kind)).collect();
        one.outcome = None::<Outcome>;
        is_shown(&one)
    };
    assert!(shown(Evidence::Harmful, Rule::Atomicity, &[UnitKind::Method]));
    assert!(shown(Evidence::Confirmed, Rule::DataRace, &[]));
    assert!(shown(Evidence::Confirmed, Rule::Atomicity, &[UnitKind::Section]));
    assert!(!shown(
        Evidence::Confirmed,
        Rule::Atomicity,
        &[UnitKind::Section, UnitKind::Method]
    ));
    assert!(!shown(Evidence::Witnessed, Rule::DataRace, &[]));
}

#[test]
fn time_is_short_if_not_every_finding_can_have_a_whole_run() {
    let now = Instant::now();
    let deadline = now + 60 * SECOND;
    assert!(!is_short(now, deadline, 2, 4, 30 * SECOND));
    assert!(is_short(now, deadline, 2, 5, 30 * SECOND));
    assert!(!is_short(now, deadline, 1, 1, 600 * SECOND), "one has all of it");
}

#[test]
fn races_of_the_application_come_first() {
    let program = fake(COUNTER);
    let mut race = finding(&program, Rule::DataRace, &LOST, &ADDS);
    race.candidates[0].observed = true;
    race.variables = vec!["C.n".into()];
    let mut library = race.clone();
    library.variables = vec!["java.util.HashMap.size".into()];
    let atomicity = finding(&program, Rule::Atomicity, &LOST, &ADDS);
    assert!(promise(&race) < promise(&atomicity));
    assert!(promise(&atomicity) < promise(&library));
}
