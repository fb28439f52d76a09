//! Tests of merging: by examples, and as properties of random shares.

use ravel_analysis::finding::{FindingStep, Outcome, OutcomeKind};

use super::*;

fn finding(id: &str, evidence: Evidence) -> Finding {
    Finding {
        shown: evidence >= Evidence::Confirmed,
        steps: vec![FindingStep {
            class: format!("C{id}"),
            method: "m()V".to_owned(),
            variable: format!("C{id}.x"),
            op: "write".to_owned(),
            ..FindingStep::default()
        }],
        ..Finding::new(id.to_owned(), Rule::DataRace, evidence)
    }
}

fn shard(name: &str, planned: &[&str], tried: &[&str], findings: Vec<Finding>) -> Report {
    let ids = |all: &[&str]| all.iter().map(|id| (*id).to_owned()).collect();
    let summary = Summary {
        events: 7,
        ..Summary::default()
    };
    let times = Times {
        runs: 3,
        ..Times::default()
    };
    Report {
        program: "java Main".to_owned(),
        summary,
        findings,
        parts: vec![Part {
            key: "plan".to_owned(),
            program: "java Main".to_owned(),
            summary,
            whole: true,
            planned: ids(planned),
            tried: ids(tried),
            shards: [(name.to_owned(), times)].into(),
            ..Part::default()
        }],
        ..Report::default()
    }
}

fn ids(report: &Report) -> Vec<(&str, Evidence)> {
    report
        .findings
        .iter()
        .map(|one| (one.id.as_str(), one.evidence))
        .collect()
}

#[test]
fn the_strongest_evidence_leads_and_what_is_missing_is_said() {
    use Evidence::{Confirmed, Harmful, Predicted};
    let plan = ["a", "b", "c"];
    let first = shard(
        "1/3",
        &plan,
        &["a"],
        vec![finding("a", Harmful), finding("b", Predicted)],
    );
    let second = shard(
        "2/3",
        &plan,
        &["b"],
        vec![finding("a", Predicted), finding("b", Confirmed)],
    );
    let both = merge(vec![first.clone(), second.clone()]);
    assert_eq!(ids(&both.report), [("a", Harmful), ("b", Confirmed)]);
    assert_eq!((both.report.complete, both.missing.len()), (false, 1));
    assert!(
        both.missing[0].contains("1 of 3") && both.missing[0].contains("(c)"),
        "{:?}",
        both.missing
    );
    let third = shard("3/3", &plan, &["c"], vec![finding("c", Predicted)]);
    let all = merge(vec![both.report, third]);
    assert!(all.report.complete && all.missing.is_empty(), "{:?}", all.missing);
    assert_eq!(ids(&all.report), [("a", Harmful), ("b", Confirmed), ("c", Predicted)]);
    assert_eq!(all.report.summary.events, 7, "one trace, three shards");
    assert_eq!(all.report.summary.times.map(|times| times.runs), Some(9));
}

#[test]
fn a_finding_that_was_tried_in_vain_says_why() {
    let planned = ["a"];
    let tried = Finding {
        limit: Some("no thread came there".into()),
        ..finding("a", Evidence::Predicted)
    };
    let first = shard("1/2", &planned, &["a"], vec![tried]);
    let second = shard("2/2", &planned, &[], vec![finding("a", Evidence::Predicted)]);
    let merged = merge(vec![second, first]).report;
    assert!(merged.findings[0].limit.is_some());
}

#[test]
fn a_failure_that_another_machine_explains_is_told_once() {
    let outcome = Outcome {
        stack: vec!["Main.run (Main.java:3)".to_owned()],
        ..Outcome::new(OutcomeKind::Exception, "java.lang.IllegalStateException: 3")
    };
    let failure = Finding {
        analyses: vec!["replay".to_owned()],
        outcome: Some(outcome.clone()),
        shown: true,
        steps: Vec::new(),
        ..Finding::new("f".to_owned(), Rule::Failure, Evidence::Confirmed)
    };
    let race = Finding {
        outcome: Some(outcome),
        analyses: vec!["race".to_owned()],
        ..finding("a", Evidence::Harmful)
    };
    let first = shard("1/2", &["a"], &["a"], vec![race]);
    let second = shard(
        "2/2",
        &["a"],
        &[],
        vec![failure.clone(), finding("a", Evidence::Predicted)],
    );
    let merged = merge(vec![first, second.clone()]).report;
    assert_eq!(ids(&merged), [("a", Evidence::Harmful)]);
    let alone = merge(vec![second]).report;
    assert_eq!(alone.findings[0].id, "f", "nothing explains it yet");
}

#[test]
fn reports_of_different_jobs_are_summed_up_once_each() {
    let job = |program: &str, id: &str| Report {
        program: program.to_owned(),
        summary: Summary {
            events: 5,
            ..Summary::default()
        },
        findings: vec![finding(id, Evidence::Harmful)],
        ..Report::default()
    };
    let (one, other) = (job("java One", "a"), job("java Other", "b"));
    let merged = merge(vec![one.clone(), other, one.clone()]).report;
    assert_eq!((merged.summary.events, merged.findings.len()), (10, 2));
    assert_eq!(merge(vec![merged.clone(), one]).report, merged);
}

/// A random plan, its shards, and what each of them found.
fn random_shards(random: &mut fastrand::Rng) -> Vec<Report> {
    let all = ["a", "b", "c", "d", "e", "f"];
    let levels = [
        Evidence::Predicted,
        Evidence::Witnessed,
        Evidence::Confirmed,
        Evidence::Harmful,
    ];
    let count = random.usize(1..4);
    let mut shards = Vec::new();
    for index in 0..count {
        let tried: Vec<&str> = all
            .iter()
            .enumerate()
            .filter(|(at, _)| at % count == index)
            .map(|(_, id)| *id)
            .collect();
        let mut findings = Vec::new();
        for id in all {
            let level = if tried.contains(&id) { random.usize(0..4) } else { 0 };
            let mut one = finding(id, levels[level]);
            one.analyses = vec![["race", "blocks"][random.usize(0..2)].to_owned()];
            // Some of them are one bug.
            if random.bool() {
                one.steps[0].variable = "Shared.x".to_owned();
                one.steps[0].class = "Shared".to_owned();
            }
            findings.push(one);
        }
        shards.push(shard(&format!("{}/{count}", index + 1), &all, &tried, findings));
    }
    shards
}

#[test]
fn order_and_repetition_do_not_matter() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let shards = random_shards(&mut random);
        let merged = merge(shards.clone()).report;
        assert!(merged.complete);
        let mut again: Vec<Report> = shards.iter().chain(&shards).cloned().collect();
        random.shuffle(&mut again);
        assert_eq!(merge(again).report, merged);
        assert_eq!(
            merge(vec![merged.clone()]).report,
            merged,
            "merging one report changes nothing"
        );
        // In groups: the same findings with the same evidence.
        let cut = random.usize(0..=shards.len());
        let (left, right) = shards.split_at(cut);
        let groups = [left, right].map(|group| merge(group.to_vec()).report);
        let grouped = merge(groups.into_iter().filter(|one| !one.parts.is_empty()).collect()).report;
        assert_eq!(ids(&grouped), ids(&merged));
        assert_eq!((grouped.complete, grouped.summary), (merged.complete, merged.summary));
        let mut repeated = shards.clone();
        repeated.push(merged.clone());
        assert_eq!(ids(&merge(repeated).report), ids(&merged));
    }
}
