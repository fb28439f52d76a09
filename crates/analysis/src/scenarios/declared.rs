//! What the user says, by annotations and settings, counts.

use super::{MINE, findings, findings_of, parse, patterns, reports_of};
use crate::analyse::analyse;
use crate::finding::{Rule, UnitKind};
use crate::registry;
use crate::units::UnitSettings;
use ravel_trace::Source;

#[test]
fn a_counter_marked_not_atomic_ok() {
    let text = "
        t1                  | t2
        enter Statistics.hit
        r Statistics.hits @3
                            | enter Statistics.hit
                            | r Statistics.hits @3
                            | w Statistics.hits @3
                            | exit
        w Statistics.hits @3
        exit
    ";
    let mut trace = parse(text);
    for field in &mut trace.names_mut().fields {
        field.annotations.push("NotAtomic".to_owned());
    }
    assert_eq!(findings_of(&mut trace), []);
    let settings = UnitSettings {
        not_atomic: vec!["Statistics.*".to_owned()],
        ..UnitSettings::default()
    };
    assert_eq!(reports_of(&mut parse(text), &MINE, &settings), []);
    assert!(!findings(text).is_empty(), "without the mark it is reported");
}

#[test]
fn a_declared_guard_is_held_to_at_once_bad() {
    let unguarded = "
        t1             | t2
        acq Stock
        r Stock.items @1
        rel Stock
                       | r Stock.items @2
    ";
    let guarded = unguarded.replace("| r Stock.items @2", "| acq Stock\n | r Stock.items @2\n | rel Stock");
    let lockset = |text: &str, annotation: &str| {
        let mut trace = parse(text);
        for field in &mut trace.names_mut().fields {
            field.annotations.push(annotation.to_owned());
        }
        let reports = reports_of(&mut trace, &["lockset"], &UnitSettings::default());
        reports.iter().map(|r| r.rule).collect::<Vec<_>>()
    };
    let this = "GuardedBy(\"this\")";
    assert_eq!(lockset(unguarded, this), [Rule::LockDiscipline]);
    assert_eq!(lockset(&guarded, this), []);
    assert_eq!(lockset(unguarded, "GuardedBy(\"mutex\")"), [Rule::LockDiscipline]);
    assert_eq!(lockset(&guarded, "GuardedBy(\"mutex\")"), []);
    assert_eq!(lockset(unguarded, "Deprecated"), [], "no thread writes it");
}

#[test]
fn a_guard_named_by_a_field_is_one_lock_for_all_that_it_guards_bad() {
    // Each field by itself has its lock, but both are said to have the same.
    let two_locks = "
        t1               | t2
        acq left
        r Stock.items @1
        rel left
                         | acq left
                         | r Stock.items @2
                         | rel left
                         | acq right
                         | r Stock.price @3
                         | rel right
        acq right
        r Stock.price @4
        rel right
    ";
    let lockset = |text: &str, annotation: &str| {
        let mut trace = parse(text);
        for field in &mut trace.names_mut().fields {
            field.annotations.push(annotation.to_owned());
        }
        reports_of(&mut trace, &["lockset"], &UnitSettings::default()).len()
    };
    for guard in ["mutex", "Stock.class", "lock()"] {
        let word = format!("GuardedBy(\"{guard}\")");
        assert_eq!(lockset(two_locks, &word), 1, "{guard}");
        assert_eq!(lockset(&two_locks.replace("right", "left"), &word), 0, "{guard}");
    }
    // Of two objects, each has a guard of its own, but a class is one for both.
    let two_objects = two_locks.replace("Stock.price", "Stock#2.items");
    assert_eq!(lockset(&two_objects, "GuardedBy(\"mutex\")"), 0);
    assert_eq!(lockset(&two_objects, "GuardedBy(\"Stock.class\")"), 1);
}

#[test]
fn the_user_s_atomic_sets_and_units_count() {
    // Two objects that belong together only because the user says so.
    let text = "
        t1             | t2
        enter Bank.move
        w Bank.from
                       | enter Bank.audit
                       | r Bank.from
                       | r Bank.to
                       | exit
        w Bank.to
        exit
    ";
    assert_eq!(patterns(text), ["9: W(x) R'(x) R'(y) W(y)"]);
    let mut trace = parse(text);
    let apart = UnitSettings {
        atomic_sets: vec![crate::units::AtomicSetSetting {
            name: "one".into(),
            fields: vec!["Bank.from".into()],
            units: Vec::new(),
        }],
        ..UnitSettings::default()
    };
    assert_eq!(reports_of(&mut trace, &["automata"], &apart), []);
    let sections = UnitSettings {
        kinds: vec![UnitKind::Section],
        ..UnitSettings::default()
    };
    assert_eq!(reports_of(&mut trace, &["automata"], &sections), []);
    let declared = UnitSettings {
        kinds: vec![UnitKind::Declared],
        units: vec!["Bank.*".into()],
        ..sections
    };
    let found = reports_of(&mut trace, &["automata"], &declared);
    assert!(
        found
            .iter()
            .all(|r| r.steps[0].owner.is_some_and(|o| o.kind == UnitKind::Declared))
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn a_declared_method_is_a_declared_unit_and_nothing_else() {
    let text = "
        t1               | t2
        enter Bank.move
        r Bank.from @1
                         | enter Bank.move
                         | acq Bank
                         | r Bank.from @1
                         | w Bank.from @2
                         | rel Bank
                         | exit
        acq Bank
        w Bank.from @2
        rel Bank
        exit
    ";
    let settings = UnitSettings {
        units: vec!["Bank.move".to_owned()],
        ..UnitSettings::default()
    };
    let analyses = registry::choose(&[], &[]).expect("all analyses");
    let findings = analyse(&mut parse(text), &settings, analyses).findings;
    let kinds: Vec<UnitKind> = findings.iter().flat_map(|f| &f.units).map(|unit| unit.kind).collect();
    assert!(!kinds.is_empty());
    assert!(kinds.iter().all(|kind| *kind == UnitKind::Declared), "{kinds:?}");
}

#[test]
fn patterns_that_match_nothing_are_told() {
    let trace = parse("t1\nenter Bank.move\nw Bank.from\nexit\n");
    let settings = UnitSettings {
        units: vec!["Bank.move".to_owned(), "Bank.mve".to_owned()],
        not_atomic: vec!["Bank.fr*".to_owned(), "Bonk.*".to_owned()],
        atomic_sets: vec![crate::units::AtomicSetSetting {
            name: "one".into(),
            fields: vec!["Bank.from".into(), "Bank.too".into()],
            units: vec!["Bank.move".into(), "Bank.mvoe".into()],
        }],
        ..UnitSettings::default()
    };
    assert_eq!(
        settings.unmatched(trace.names()),
        [
            "the unit Bank.mve matches no method that ran",
            "not-atomic Bonk.* matches no method that ran and no field that was used",
            "Bank.too of the atomic set one matches no field that was used",
            "the unit Bank.mvoe of the atomic set one matches no method that ran",
        ]
    );
}

#[test]
fn a_unit_may_be_declared_for_one_atomic_set() {
    // The whole of `move` is one step on the accounts, and not on the log.
    let text = "
        t1               | t2
        enter Bank.move
        r Bank.from @1
        w Bank.log @2
                         | enter Bank.move
                         | r Bank.from @1
                         | w Bank.log @2
                         | w Bank.from @3
                         | w Bank.log @4
                         | exit
        w Bank.from @3
        w Bank.log @4
        exit
    ";
    let found = |units: Vec<String>| {
        let settings = UnitSettings {
            kinds: vec![UnitKind::Declared],
            atomic_sets: vec![crate::units::AtomicSetSetting {
                name: "accounts".into(),
                fields: vec!["Bank.from".into()],
                units,
            }],
            ..UnitSettings::default()
        };
        let mut trace = parse(text);
        let reports = reports_of(&mut trace, &["automata"], &settings);
        let mut variables: Vec<String> = reports
            .iter()
            .flat_map(|report| &report.steps)
            .filter_map(|step| Some(trace.names().variable_name(step.location?, step.point.site)))
            .collect();
        variables.sort();
        variables.dedup();
        variables
    };
    assert_eq!(found(vec!["Bank.move".into()]), ["Bank.from"]);
    assert_eq!(found(Vec::new()), [] as [String; 0]);
}
