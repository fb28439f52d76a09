//! Which findings the default view shows, and which are tried first.

use ravel_analysis::finding::{Evidence, FindingStep, Outcome, Rule, UnitKind, UnitRef};

use super::super::{is_shown, promise};
use super::{ADDS, COUNTER, LOST, fake, finding};

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
fn a_critical_section_is_no_unit_on_an_object_that_protects_itself() {
    let program = fake(COUNTER);
    let mut one = finding(&program, Rule::Atomicity, &LOST, &ADDS);
    one.evidence = Evidence::Confirmed;
    let step = |inside: Option<&str>| FindingStep {
        inside: inside.map(str::to_owned),
        ..FindingStep::default()
    };
    let mut shown = |kind, inside: [Option<&str>; 2]| {
        one.units = vec![UnitRef {
            thread: "t1".into(),
            method: "C.add()I".into(),
            kind,
        }];
        one.steps = inside.map(step).to_vec();
        is_shown(&one)
    };
    let call = Some("java.util.concurrent.atomic.AtomicLong.get");
    assert!(!shown(UnitKind::Section, [call, call]));
    assert!(shown(UnitKind::Section, [call, None]));
    assert!(shown(UnitKind::Declared, [call, call]));
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
