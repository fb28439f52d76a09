//! The steps of a finding after a forced run: they describe the occurrence that happened in it.

use ravel_analysis::finding::{Candidate, Evidence, Finding, FindingStep, Rule};

use super::super::Recorded;
use super::{at, fake, kept};

#[test]
fn another_occurrence_has_the_calls_that_led_to_it() {
    let lines = [
        "main | t1",
        "fork t1 |",
        "| enter C.sell()V",
        "| enter C.count()I",
        "| r C.f",
        "| exit",
        "| enter C.remove()V",
        "| enter C.count()I",
        "| r C.f",
        "| exit",
        "| exit",
        "| exit",
        "join t1 |",
    ];
    let mut trace = fake(&lines.join("\n")).recorded();
    let (first, second) = (at(&trace, "t1", 5), at(&trace, "t1", 9));
    let step = |event| FindingStep {
        thread: "t1".into(),
        op: "read".into(),
        variable: "C.f".into(),
        stack: vec!["C.count".into(), "C.sell".into()],
        event: Some(event),
        ..FindingStep::default()
    };
    let candidate = |event| Candidate {
        events: vec![event],
        ..Candidate::default()
    };
    let mut finding = Finding {
        steps: vec![step(first)],
        candidates: vec![candidate(first), candidate(second)],
        ..Finding::new("1".into(), Rule::DataRace, Evidence::Predicted)
    };
    let findings = [finding.clone()];
    let recorded = Recorded::read(&mut trace, (&findings, &[]), kept, || true).expect("a trace");
    recorded
        .marks
        .retell(&mut finding, &candidate(second), &[], recorded.image.thread_names());
    let calls: Vec<&str> = finding.steps[0]
        .stack
        .iter()
        .map(|frame| frame.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(calls[..3], ["C.count", "C.remove", "C.sell"]);
}

#[test]
fn another_occurrence_has_its_own_threads_or_is_left_untold() {
    let lines = [
        "main | t1 | t2 | t3",
        "fork t1 |||",
        "fork t2 |||",
        "fork t3 |||",
        "| r C.f ||",
        "|| w C.f |",
        "|| r C.f |",
        "| w C.f ||",
        "||| w C.g",
        "join t1 |||",
        "join t2 |||",
        "join t3 |||",
    ];
    let mut trace = fake(&lines.join("\n")).recorded();
    let told = [at(&trace, "t2", 7), at(&trace, "t1", 8)];
    let other = [at(&trace, "t1", 5), at(&trace, "t2", 6)];
    let third = [at(&trace, "t1", 5), at(&trace, "t3", 9)];
    let step = |thread: &str, op: &str, event| FindingStep {
        thread: thread.into(),
        op: op.into(),
        variable: "C.f".into(),
        event: Some(event),
        ..FindingStep::default()
    };
    let candidate = |events: [_; 2]| Candidate {
        events: events.to_vec(),
        ..Candidate::default()
    };
    let finding = Finding {
        // Of t3 alone, so that no step tells of the threads of the other occurrence.
        steps: vec![step("t3", "read", at(&trace, "t3", 9)), step("t2", "read", told[0])],
        candidates: vec![candidate(told), candidate(other), candidate(third)],
        ..Finding::new("1".into(), Rule::DataRace, Evidence::Predicted)
    };
    let findings = [finding.clone()];
    let recorded = Recorded::read(&mut trace, (&findings, &[]), kept, || true).expect("a trace");
    let names = recorded.image.thread_names();
    let threads = |finding: &Finding| -> Vec<(String, String)> {
        let steps = finding.steps.iter();
        steps.map(|step| (step.thread.clone(), step.op.clone())).collect()
    };
    let pair = |thread: &str, op: &str| (thread.to_owned(), op.to_owned());
    let mut happened = finding.clone();
    recorded.marks.retell(&mut happened, &candidate(other), &[], names);
    assert_eq!(threads(&happened), [pair("t1", "read"), pair("t2", "write")]);
    // Nothing is known of C.g: the finding does not mix two occurrences.
    let mut unknown = Finding {
        steps: vec![step("t1", "write", told[1]), step("t2", "read", told[0])],
        ..finding
    };
    let before = threads(&unknown);
    recorded.marks.retell(&mut unknown, &candidate(third), &[], names);
    assert_eq!(threads(&unknown), before);
}
