//! The reports of several machines, or of several runs, as one.
//!
//! The same bug is one finding, with the strongest of the evidence. What one machine alone would have done at the end of its job is done
//! here, when the findings of all are known: a failure that is the outcome of a finding is not told again, and findings that are one bug
//! are made one.
//!
//! **Promise:** the result depends neither on the order of the reports nor on how often one is among them, and merging it with a report
//! that it was made of gives it again. For this the reports are put in an order of their own first, and what is summed up is kept by
//! part (`ravel_analysis::part`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ravel_analysis::analyse::combine;
use ravel_analysis::finding::{Evidence, Finding, Part, Recording, Report, Rule, Summary, Times};
use ravel_analysis::merge::{fold_alike, fold_repeated, fold_same};
use ravel_classfile::content_hash;

use crate::failures;
use crate::job::only_in_code;
use crate::proof::is_told;

/// What reports come to together.
#[derive(Debug)]
pub struct Merged {
    /// The report of them all.
    pub report: Report,
    /// What is missing of it, each as a sentence.
    pub missing: Vec<String>,
}

/// Joins reports.
pub fn merge(reports: Vec<Report>) -> Merged {
    let reports = in_order(reports);
    let parts = parts(&reports);
    let mut merged = Vec::new();
    combine(&mut merged, best_first(&reports));
    drop_absorbed(&mut merged);
    drop_told_signals(&mut merged);
    failures::drop_told(&mut merged);
    fold_alike(&mut merged);
    fold_same(&mut merged);
    fold_repeated(&mut merged);
    merged.sort_by_key(|finding| Reverse((finding.shown, finding.evidence)));
    let suspicions = only_in_code(suspicions(&reports), &mut merged);
    let recordings = recordings(&reports, &merged);
    let mut report = Report {
        program: distinct(parts.iter().map(|part| part.program.clone())).join("; "),
        complete: parts.iter().all(Part::is_complete),
        summary: summary(&parts),
        warnings: distinct(reports.iter().flat_map(|report| report.warnings.iter().cloned())),
        findings: merged,
        suspicions,
        recordings,
        ..Report::default()
    };
    for account in reports.iter().flat_map(|report| &report.directed) {
        if !report.directed.contains(account) {
            report.directed.push(account.clone());
        }
    }
    let missing = parts.iter().filter_map(missing).collect();
    report.parts = parts;
    Merged { report, missing }
}

/// The sentence about what is missing of a part.
fn missing(part: &Part) -> Option<String> {
    let ids: Vec<&str> = part.missing().collect();
    let named = if part.program.is_empty() {
        &part.key
    } else {
        &part.program
    };
    match ids.as_slice() {
        [] if part.whole => None,
        [] => Some(format!(
            "{named}: the work was interrupted, or a trace could not be read to its end"
        )),
        _ => {
            let some = ids.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = if ids.len() > MOST_NAMED { ", …" } else { "" };
            Some(format!(
                "{named}: {} of {} planned findings not tried ({some}{more}); shards with a result: {}; `ravel prove GOALS --shard I/N` \
                 tries the others",
                ids.len(),
                part.planned.len(),
                part.shards.keys().cloned().collect::<Vec<_>>().join(", ")
            ))
        }
    }
}

/// The most findings that a sentence names.
const MOST_NAMED: usize = 3;

/// Each report once, with its parts and the types of its fields, in an order that does not depend on how they came.
fn in_order(reports: Vec<Report>) -> Vec<Report> {
    let mut named: Vec<(String, Report)> = reports
        .into_iter()
        .map(|mut report| {
            if report.parts.is_empty() {
                report.parts.push(alone(&report));
            }
            for part in report.parts.clone() {
                part.restore_types(&mut report);
            }
            (serde_json::to_string(&report).unwrap_or_default(), report)
        })
        .collect();
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    named.dedup_by(|(one, _), (other, _)| one == other);
    named.into_iter().map(|(_, report)| report).collect()
}

/// The part of a report of a job that is not shared among machines.
fn alone(report: &Report) -> Part {
    let text = serde_json::to_string(report).unwrap_or_default();
    let times = report.summary.times.map(|times| ("1/1".to_owned(), times));
    Part {
        key: format!("{:016x}", content_hash(text.as_bytes())),
        program: report.program.clone(),
        summary: Summary {
            times: None,
            ..report.summary
        },
        whole: report.complete,
        shards: times.into_iter().collect(),
        ..Part::default()
    }
}

/// The parts of all reports, by key.
fn parts(reports: &[Report]) -> Vec<Part> {
    let mut parts: BTreeMap<&str, Part> = BTreeMap::new();
    for part in reports.iter().flat_map(|report| &report.parts) {
        match parts.get_mut(part.key.as_str()) {
            Some(known) => known.join(part.clone()),
            None => drop(parts.insert(&part.key, part.clone())),
        }
    }
    parts.into_values().collect()
}

/// All findings: of each the one to keep before those that support it.
fn best_first(reports: &[Report]) -> Vec<Finding> {
    let mut all = Vec::new();
    for report in reports {
        for finding in &report.findings {
            let tried = report.parts.iter().any(|part| part.tried.contains(&finding.id));
            let text = serde_json::to_string(finding).unwrap_or_default();
            let rank = (
                Reverse((finding.evidence, finding.shown, tried, finding.limit.is_some())),
                text,
            );
            all.push((rank, finding));
        }
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, finding)| finding.clone()).collect()
}

/// Drops findings that an earlier merging has made part of another one, unless their evidence is stronger now.
fn drop_absorbed(findings: &mut Vec<Finding>) {
    let mut at = 0;
    while at < findings.len() {
        let one = &findings[at];
        let is_in = |other: &Finding| {
            let mut views = other.also.iter();
            other.id != one.id && views.any(|view| view.id == one.id && view.evidence >= one.evidence)
        };
        if findings.iter().any(is_in) {
            findings.remove(at);
        } else {
            at += 1;
        }
    }
}

/// A wait whose signal is lost is not told beside a shown finding in the same methods.
fn drop_told_signals(findings: &mut Vec<Finding>) {
    let is_signal = |finding: &Finding| finding.rule == Rule::NakedNotify && finding.evidence >= Evidence::Confirmed;
    let others: Vec<Finding> = findings.iter().filter(|one| !is_signal(one)).cloned().collect();
    findings.retain(|finding| !(is_signal(finding) && is_told(finding, &others)));
}

/// What the code alone makes suspicious, each once.
fn suspicions(reports: &[Report]) -> Vec<Finding> {
    let mut all: BTreeMap<&str, &Finding> = BTreeMap::new();
    for suspicion in reports.iter().flat_map(|report| &report.suspicions) {
        all.entry(&suspicion.id).or_insert(suspicion);
    }
    all.into_values().cloned().collect()
}

/// What was recorded, each trace once, with the moments of the findings as the machine that tried them has them.
fn recordings(reports: &[Report], findings: &[Finding]) -> Vec<Recording> {
    let mut all: BTreeMap<&str, Recording> = BTreeMap::new();
    for report in reports {
        for recording in &report.recordings {
            let Some(known) = all.get_mut(recording.trace.as_str()) else {
                all.insert(&recording.trace, recording.clone());
                continue;
            };
            for (id, moments) in &recording.moments {
                let tried = report.parts.iter().any(|part| part.tried.contains(id));
                if tried || !known.moments.contains_key(id) {
                    known.moments.insert(id.clone(), moments.clone());
                }
            }
            for lane in &recording.locks {
                if !known.locks.contains(lane) {
                    known.locks.push(lane.clone());
                }
            }
        }
    }
    for recording in all.values_mut() {
        let has = |id: &String| findings.iter().any(|finding| finding.id == *id);
        recording.moments.retain(|id, _| has(id));
    }
    all.into_values().collect()
}

/// What was analysed in all parts, and what took how long on all machines.
fn summary(parts: &[Part]) -> Summary {
    let mut sum = Summary::default();
    let mut times: Option<Times> = None;
    for part in parts {
        let one = &part.summary;
        sum.events += one.events;
        sum.threads += one.threads;
        sum.classes.instrumented += one.classes.instrumented;
        sum.classes.skipped += one.classes.skipped;
        sum.classes.failed += one.classes.failed;
        sum.scanned = sum.scanned.or(one.scanned);
        for shard in part.shards.values() {
            let all = times.get_or_insert_default();
            all.record += shard.record;
            all.search += shard.search;
            all.schedule += shard.schedule;
            all.replay += shard.replay;
            all.runs += shard.runs;
            all.directed += shard.directed;
            all.directed_runs += shard.directed_runs;
        }
    }
    Summary { times, ..sum }
}

/// Each once, in their order.
fn distinct(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all
}

#[cfg(test)]
#[path = "merged_tests.rs"]
mod tests;
