//! Rules about one method or one field: bad and good twins, and the rule that each bad one must be found by.

use std::collections::BTreeSet;

use crate::common::{compile, scan_folder};
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
        ("check-then-act", "CheckThenAct.textBad"),
        ("compound-volatile", "CompoundVolatile.againBad"),
        ("compound-volatile", "CompoundVolatile.boxedBad"),
        ("compound-volatile", "CompoundVolatile.cellBad"),
        ("compound-volatile", "CompoundVolatile.copyBad"),
        ("compound-volatile", "CompoundVolatile.flipBad"),
        ("compound-volatile", "CompoundVolatile.peakBad"),
        ("compound-volatile", "CompoundVolatile.pushBad"),
        ("compound-volatile", "CompoundVolatile.growBad"),
        ("compound-volatile", "CompoundVolatile.hitBad"),
        ("compound-volatile", "CompoundVolatile.sumBad"),
        ("compound-volatile", "CompoundUpdater.raiseBad"),
        ("guarded-by", "GuardedMeant.countBad"),
        ("guarded-by", "GuardedWritten.closeBad"),
        ("inconsistent-sync", "InconsistentLazy.init"),
        ("inconsistent-sync", "InconsistentMessage.failBad"),
        ("inconsistent-sync", "InconsistentSync.countBad"),
        ("inconsistent-sync", "InconsistentTests.usedBad"),
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

/// Programs by other hands: what is shown of a class is of the rule that its name starts with, in the methods that end in Bad. A
/// constructor stands for its class.
#[test]
fn programs_of_strangers_are_told_right() {
    let folder = compile(&[("Strangers.java", include_str!("java/Strangers.java"))]);
    let scan = scan_folder(&folder, &Options::default());
    let shown = scan.findings.iter().filter(|finding| finding.shown);
    let shown: BTreeSet<(String, String)> = shown
        .map(|finding| {
            let unit = finding.units[0].method.split('(').next().unwrap_or_default();
            (finding.rule.name().to_owned(), unit.to_owned())
        })
        .collect();
    let source = include_str!("java/Strangers.java");
    let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
    let mut class = String::new();
    for line in source.lines() {
        let word = |after: &str| {
            line.split(after)
                .nth(1)
                .map(|rest| rest.split([' ', '(']).next().unwrap_or_default())
        };
        if line.starts_with("class ") {
            class = word("class ").unwrap_or_default().to_owned();
        }
        let nested = line.starts_with("  static class ").then(|| word("class ")).flatten();
        if let Some(nested) = nested {
            class = format!("{class}${nested}");
        } else if line == "  }" && class.contains('$') {
            class = class.split('$').next().unwrap_or_default().to_owned();
        }
        let method = line
            .split('(')
            .next()
            .and_then(|head| head.rsplit(' ').next())
            .unwrap_or_default();
        if method.ends_with("Bad") && line.starts_with("  ") && line.contains('{') {
            wanted.insert((rule_of(&class), format!("{class}.{method}")));
        }
    }
    for class in [
        "UnsafePublicationPoller",
        "UnsafePublicationRegistry",
        "UnsafePublicationBase",
    ] {
        wanted.insert(("unsafe-publication".to_owned(), format!("{class}.<init>")));
    }
    assert!(wanted.len() >= 30, "{wanted:?}");
    let missed: Vec<_> = wanted.difference(&shown).collect();
    let more: Vec<_> = shown.difference(&wanted).collect();
    assert!(
        missed.is_empty() && more.is_empty(),
        "missed {missed:?}, too many {more:?}"
    );
}

/// `CheckThenActSessions` is about check-then-act.
fn rule_of(class: &str) -> String {
    let mut name = String::new();
    for letter in class.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    let rules = ravel_scan::rules::RULES.iter().map(|known| known.rule.name());
    rules
        .filter(|rule| name.starts_with(rule))
        .max_by_key(|rule| rule.len())
        .unwrap_or_default()
        .to_owned()
}
