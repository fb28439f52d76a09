//! How the time is shared among findings, and what an interruption leaves.

use std::time::{Duration, Instant};

use ravel_analysis::finding::{Evidence, Finding, Rule};
use ravel_protocol::Schedule;

use super::super::Recorded;
use super::super::runs::Runs;
use super::super::{is_short, share};
use super::{ADDS, COUNTER, HOUR, LOST, atomicity, fake, finding, judged, kept, limit, prove_in};
use crate::runner::fake::Fake;

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
            .any(|finding| limit(finding) == "not tried: the time ran out (--budget)")
    );
}

#[test]
fn a_reading_ends_with_the_time() {
    let long = "main\nw C.f=1\n".to_owned() + &"r C.f\n".repeat(40_000);
    let (mut trace, asked) = (fake(&long).recorded(), std::cell::Cell::new(0));
    let go_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 2
    };
    assert!(Recorded::read(&mut trace, (&[], &[]), kept, go_on).is_err());
    assert_eq!(asked.get(), 2);
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
fn time_is_short_if_not_every_finding_can_have_a_whole_run() {
    let now = Instant::now();
    let deadline = now + 60 * SECOND;
    assert!(!is_short(now, deadline, 2, 4, 30 * SECOND));
    assert!(is_short(now, deadline, 2, 5, 30 * SECOND));
    assert!(!is_short(now, deadline, 1, 1, 600 * SECOND), "one has all of it");
}

#[test]
fn nothing_is_run_after_an_interruption() {
    let program = fake(COUNTER).interrupted_after(0);
    let finding = atomicity(&program);
    assert_eq!(limit(&finding), "not tried: interrupted");
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
    assert_eq!(limit(&findings[2]), "not tried: interrupted");
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
    let runs = Runs::new(&program, 1);
    let empty = Schedule::default();
    assert!(runs.get(&empty, 0).expect("a run").1);
    assert!(!runs.get(&empty, 0).expect("a run").1);
    assert!(runs.get(&empty, 1).expect("a run").1);
    assert_eq!(program.made().len(), 2);
    runs.begin_again_alone();
    assert!(runs.get(&empty, 0).expect("a run").1);
}

#[test]
fn runs_that_are_expected_are_made_side_by_side_where_there_are_places() {
    let program = fake(COUNTER);
    let wanted = [(Schedule::default(), 2)];
    let runs = Runs::new(&program, 1);
    assert_eq!(runs.make_ahead(&wanted), 0);
    let runs = Runs::new(&program, 2);
    assert_eq!(runs.make_ahead(&wanted), 2);
    assert_eq!(runs.make_ahead(&wanted), 0);
    assert!(!runs.get(&Schedule::default(), 1).expect("a run").1);
    runs.begin_again_alone();
    assert_eq!(runs.make_ahead(&wanted), 0);
}

#[test]
fn a_finding_without_an_occurrence_costs_no_run() {
    let program = fake(COUNTER);
    let mut none = finding(&program, Rule::Atomicity, &LOST, &ADDS);
    none.candidates.clear();
    let none = judged(&program, none);
    assert_eq!(limit(&none), "the trace has no occurrence of it to force");
    assert!(program.made().is_empty());
}
