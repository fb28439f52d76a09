//! Rules about one method or one field: bad and good twins, and the rule that each bad one must be found by.

mod common;

use std::collections::BTreeSet;

use common::{compile, scan_folder};
use ravel_scan::Options;

#[test]
fn the_bad_are_shown_and_the_ok_are_not() {
    let folder = compile(&[("NewRules.java", include_str!("java/NewRules.java"))]);
    let scan = scan_folder(&folder, &Options::default());
    let shown: BTreeSet<(String, String)> = scan
        .findings
        .iter()
        .filter(|finding| finding.shown)
        .map(|finding| {
            let unit = finding.units[0].method.split('(').next().unwrap_or_default();
            (finding.rule.name().to_owned(), unit.to_owned())
        })
        .collect();
    let wanted = [
        ("check-then-act", "CheckThenAct.countBad"),
        ("check-then-act", "CheckThenAct.limitBad"),
        ("check-then-act", "CheckThenAct.listenBad"),
        ("check-then-act", "CheckThenAct.nextBad"),
        ("check-then-act", "CheckThenAct.sessionBad"),
        ("compound-volatile", "CompoundVolatile.cellBad"),
        ("compound-volatile", "CompoundVolatile.hitBad"),
        ("compound-volatile", "CompoundVolatile.sumBad"),
        ("inconsistent-sync", "InconsistentSync.countBad"),
        ("nested-wait", "NestedWait.methodBad"),
        ("nested-wait", "NestedWait.nestedBad"),
        ("notify-one", "NotifyOne.putBad"),
        ("shared-format", "SharedFormat.dayBad"),
        ("shared-format", "SharedFormat.nowBad"),
        ("test-lock-assign", "TestLockAssign.cacheBad"),
        ("test-lock-assign", "TestLockAssign.sharedBad"),
        ("two-guards", "TwoGuards.take"),
        ("unreleased-lock", "UnreleasedLock.earlyBad"),
        ("unreleased-lock", "UnreleasedLock.switchBad"),
        ("unsafe-publication", "BaseBad.<init>"),
        ("unsafe-publication", "PublishesBad.<init>"),
        ("unsafe-publication", "StartsBad.<init>"),
    ];
    let wanted: BTreeSet<(String, String)> = wanted
        .iter()
        .map(|(rule, method)| ((*rule).to_owned(), (*method).to_owned()))
        .collect();
    let missed: Vec<_> = wanted.difference(&shown).collect();
    let more: Vec<_> = shown.difference(&wanted).collect();
    assert!(
        missed.is_empty() && more.is_empty(),
        "missed {missed:?}, too many {more:?}"
    );
}
