//! Deadlocks and standstills, and whose they are.

use ravel_analysis::finding::{Evidence, OutcomeKind, Rule};
use ravel_protocol::{EndedBy, Schedule, Verdict};

use super::super::standstill;
use super::{COUNTER, HOUR, atomicity, fake, finding, judged, last, limit, prove_in, told};

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
    assert_eq!(
        told(&finding),
        (Evidence::Harmful, Some(OutcomeKind::Deadlock), message)
    );
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
    assert_eq!(limit(&finding), "the threads did not deadlock");
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
    assert_eq!(blocks(["t8", "t9"]), (Evidence::Confirmed, Some(OutcomeKind::Normal)));
    assert_eq!(blocks(["t1", "t9"]), (Evidence::Harmful, Some(OutcomeKind::Deadlock)));
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
    assert_eq!(limit(&finding), "other threads deadlocked");
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
    assert_eq!(told(&found).2, "t2 never wake up");
    let once = fake(text).altered(|_, number, run| {
        if number > 0 {
            run.verdict = Some(Verdict::Complete { slip: None });
        }
    });
    let (found, runs) = standstill::find(&once, &Schedule::default()).expect("runs");
    assert_eq!((found, runs), (None, 2));
}
