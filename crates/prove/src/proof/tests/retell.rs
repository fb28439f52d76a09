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
    recorded.marks.retell(&mut finding, &candidate(second), &[]);
    let calls: Vec<&str> = finding.steps[0]
        .stack
        .iter()
        .map(|frame| frame.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(calls[..3], ["C.count", "C.remove", "C.sell"]);
}
