//! A pair of classes for every rule: what must be found and what must not.

use crate::common::{compile, methods, scan_folder};
use ravel_analysis::finding::Rule;
use ravel_scan::Options;

#[test]
fn every_rule_finds_the_bad_and_passes_the_ok() {
    let folder = compile(&[("Rules.java", include_str!("java/Rules.java"))]);
    let scan = scan_folder(&folder, &Options::default());
    let found = |rule: &str| methods(&scan.findings, rule);
    assert_eq!(
        found("lock-pattern"),
        [
            "HalvesBad.moved",
            "LockPatternBad$Inner.inner",
            "LockPatternBad.classLock",
            "LockPatternBad.explicitContext",
            "LockPatternBad.explicitWitness",
            "LockPatternBad.field",
            "LockPatternBad.forever",
            "LockPatternBad.lambda$lambda$1",
            "LockPatternBad.madeAndShared",
            "LockPatternBad.readWrite",
            "LockPatternBad.recursive",
            "LockPatternBad.threadSafe",
            "LockPatternBad.thrown",
            "LockPatternBad.tried",
            "LockPatternBad.unknownContext",
        ]
    );
    assert_eq!(
        found("lock-order"),
        ["OrderBad.ab", "RingBad.gh", "TransferBad.transfer"]
    );
    let ring = scan.findings.iter().find(|finding| finding.variables.len() == 3);
    assert_eq!(
        ring.map(|ring| ring.steps.len()),
        Some(6),
        "three locks, each with the next"
    );
    // One finding per field, with all its uses.
    let guarded = scan.findings.iter().filter(|finding| finding.rule == Rule::GuardedBy);
    let guarded: Vec<(&str, Vec<&str>)> = guarded
        .map(|finding| {
            let units = finding
                .units
                .iter()
                .map(|unit| unit.method.split('(').next().unwrap_or_default());
            (finding.variables[0].as_str(), units.collect())
        })
        .collect();
    assert_eq!(
        guarded,
        [
            ("GuardBad.c", vec!["GuardBad.classless"]),
            ("GuardBad.a", vec!["GuardBad.readA", "GuardBad.helper"]),
            ("GuardBad.b", vec!["GuardBad.wrongLock"]),
            ("GuardForTests.a", vec!["GuardForTests.peek"]),
        ]
    );
    // Nothing but tests can call it.
    let shown = |name: &str| {
        scan.findings
            .iter()
            .any(|found| found.shown && found.variables.first().is_some_and(|first| first == name))
    };
    assert!(shown("GuardBad.a") && !shown("GuardForTests.a"));
    assert_eq!(found("double-checked-locking"), ["CheckedBad.copy", "CheckedBad.get"]);
    assert_eq!(found("reassigned-lock"), ["ReassignedBad.use"]);
    assert_eq!(found("wait-outside-loop"), ["WaitBad.once"]);
    assert_eq!(found("naked-notify"), ["NotifyBad.finish"]);
}

#[test]
fn the_list_of_unshared_classes_can_be_changed() {
    let folder = compile(&[("Rules.java", include_str!("java/Rules.java"))]);
    let mut options = Options::default();
    options.filter.add_unshared("Cell");
    let scan = scan_folder(&folder, &options);
    assert_eq!(
        methods(&scan.findings, "lock-pattern"),
        [
            "HalvesBad.moved",
            "LockPatternBad.explicitWitness",
            "LockPatternBad.readWrite",
            "LockPatternBad.threadSafe",
            "LockPatternBad.tried"
        ]
    );
}

#[test]
fn ids_do_not_depend_on_lines_and_are_unique() {
    let source = include_str!("java/Rules.java");
    let moved = format!("\n\n\n{source}");
    let ids = |source: &str| {
        let folder = compile(&[("Rules.java", source)]);
        let scan = scan_folder(&folder, &Options::default());
        let mut ids: Vec<String> = scan.findings.iter().map(|finding| finding.id.clone()).collect();
        ids.sort();
        ids
    };
    let (here, there) = (ids(source), ids(&moved));
    assert_eq!(here, there);
    let mut unique = here.clone();
    unique.dedup();
    assert_eq!(unique.len(), here.len());
}
