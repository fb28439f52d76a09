//! What the serial orders of the units are, and what they say of harm.

use ravel_analysis::finding::{Evidence, OutcomeKind, Rule};
use ravel_protocol::{Cause, Schedule, Verdict};

use super::{COUNTER, atomicity, fake, finding, judged, last, limit, slip, told};
use crate::runner::Forced;

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

#[test]
fn all_serial_orders_are_run_and_named() {
    let finding = atomicity(&fake(SETTER));
    let value = "C.n was 1; every serial order gives 5 or 6";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Value), value));
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
        "no serial order of the units could be forced, so harm is unknown"
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
    assert_eq!(told(&finding), (Evidence::Confirmed, Some(OutcomeKind::Value), value));
    assert_eq!(
        limit(&finding),
        "1 of the serial orders of the units could not be run, so harm is not certain"
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
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Value), value));
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
    assert_eq!(told(&finding), (Evidence::Confirmed, Some(OutcomeKind::Normal), normal));
    assert_eq!(limit(&finding), "its forced runs had the outcome of a serial order");
    assert!(!finding.shown);
}

#[test]
fn an_end_that_cannot_be_compared_is_not_called_that_of_a_serial_order() {
    // What the units left behind is not known either.
    let alone_fails = |schedule: &Schedule, _: usize, run: &mut Forced| {
        run.partial = true;
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
        limit(&confirmed).ends_with("could not be compared with serial orders"),
        "{:?}",
        confirmed.limit
    );
}
