//! What the scripts of the page draw, as JSON: findings in words, their orders of steps, the source lines that they show.

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::finding::{
    Evidence, Finding, FindingStep, Outcome, OutcomeKind, Recording, Report, RuleFamily, SerialRun,
};
use ravel_trace::naming::{self, Frame};
use serde_json::{Value, json};

use crate::{Options, layout, words};

/// Source lines kept around a step.
const CONTEXT: u32 = 2;

/// Source lines by path and number.
type Lines = BTreeMap<String, BTreeMap<u32, String>>;

/// Everything that the page shows.
pub fn data(report: &Report, options: &Options<'_>) -> Value {
    let mut lines = Lines::new();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|f| finding(f, report, options, &mut lines))
        .collect();
    let sources: BTreeMap<&String, Vec<(u32, &String)>> = lines
        .iter()
        .map(|(path, lines)| (path, lines.iter().map(|(n, text)| (*n, text)).collect()))
        .collect();
    json!({ "findings": findings, "sources": sources, "recordings": recordings(report) })
}

/// The recordings with their cells as numbers, for a script to draw.
fn recordings(report: &Report) -> Vec<Value> {
    let recording = |r: &Recording| {
        let lanes: Vec<Value> = r
            .lanes
            .iter()
            .map(|l| json!({ "thread": l.thread, "cells": l.cells }))
            .collect();
        let locks: Vec<Value> = r
            .locks
            .iter()
            .map(|l| json!({ "name": naming::lock::short(&l.lock), "holds": l.holds, "until": l.until }))
            .collect();
        json!({ "trace": r.trace, "events": r.events, "cell": r.cell, "lanes": lanes, "locks": locks, "more_threads": r.more_threads, "moments": r.moments })
    };
    report.recordings.iter().map(recording).collect()
}

fn finding(finding: &Finding, report: &Report, options: &Options<'_>, lines: &mut Lines) -> Value {
    let packages: BTreeSet<&str> = finding.steps.iter().map(|s| naming::package(&s.class)).collect();
    let steps: Vec<Value> = finding.steps.iter().map(|s| step(finding, s, options, lines)).collect();
    json!({
        "id": finding.id,
        "rule": words::rule(finding.rule),
        "evidence": words::evidence(finding.evidence),
        "meaning": words::meaning(finding),
        "limit": finding.limit,
        "limit_label": words::limit_label(finding),
        "shown": finding.shown,
        "message": finding.message,
        "help": finding.help,
        "replay": finding.replay,
        "tests": finding.tests,
        "where": words::main_place(finding).map(|main| main.place()).unwrap_or_default(),
        "patterns": finding.patterns,
        "analyses": finding.analyses,
        "variables": finding.variables,
        "names": words::variables(finding),
        "units": words::units(finding),
        "packages": packages,
        "threads": words::threads(finding),
        "run": words::run(finding),
        "outcome": finding.outcome.as_ref().map(words::outcome),
        "thrown": finding.outcome.iter().flat_map(|o| &o.stack).map(|f| Frame::parse(f).short()).collect::<Vec<_>>(),
        "printed": finding.outcome.as_ref().map(|o| &o.printed),
        "bad": is_bad(finding),
        "orders": orders(finding, report, options, lines),
        "serial": serial(finding),
        "decisive": words::decisive(finding),
        "schedule": finding.schedule,
        "also": words::also(finding),
        "steps": steps,
    })
}

/// Whether the run had an outcome that is the bug.
fn is_bad(finding: &Finding) -> bool {
    let failed = finding.evidence == Evidence::Harmful || finding.rule.family() == RuleFamily::Failure;
    failed && finding.outcome.as_ref().is_some_and(|o| o.kind != OutcomeKind::Normal)
}

/// The orders of steps that a reader can step through: the one that breaks it, the recorded one where it is another, and the serial ones
/// that were run.
fn orders(finding: &Finding, report: &Report, options: &Options<'_>, lines: &mut Lines) -> Vec<Value> {
    let told: Vec<usize> = (0..finding.steps.len()).collect();
    let recorded = recorded_order(finding, report);
    let forced =
        matches!(finding.evidence, Evidence::Harmful | Evidence::Confirmed) && !words::is_of_recording(finding);
    let kind = if forced { "Forced run: " } else { "" };
    let as_recorded = if recorded.as_deref() == Some(&told) {
        " (as recorded)"
    } else {
        ""
    };
    let family = finding.rule.family();
    let mut orders = vec![json!({
        "kind": "broken",
        "name": capital(&format!("{kind}{}{as_recorded}", words::order_heading(finding))),
        "title": capital(words::order_heading(finding)),
        "steps": told,
        "decisive": words::decisive(finding),
        "cuts": family.is_interruption(),
        "holds": family == RuleFamily::LockOrder,
        "end": finding.outcome.as_ref().map(end),
    })];
    if let Some(recorded) = recorded.filter(|recorded| *recorded != told) {
        let own: Vec<Value> = recorded
            .iter()
            .filter_map(|&at| finding.steps.get(at))
            .map(|s| step(finding, &recorded_step(s), options, lines))
            .collect();
        orders.push(json!({ "kind": "recorded", "name": "The recorded run", "title": "As recorded", "own": own }));
    }
    let known = finding.serial.iter().filter(|run| !run.steps.is_empty());
    orders.extend(known.map(|run| serial_order(finding, run, options, lines)));
    orders
}

/// A step as it was in the recorded run: values are those of the forced run, and nothing blocked.
fn recorded_step(step: &FindingStep) -> FindingStep {
    let op = if step.op == "block" { "acquire" } else { &step.op };
    FindingStep {
        value: None,
        op: op.to_owned(),
        ..step.clone()
    }
}

/// Characters of an outcome beside the orders.
const MOST_OF_END: usize = 120;

/// What comes before the comparison with the serial orders.
fn own_end(outcome: &Outcome) -> Option<String> {
    let message = &outcome.message;
    match outcome.kind {
        OutcomeKind::Value | OutcomeKind::Return | OutcomeKind::Exit => {
            Some(message.rsplit_once("; ")?.0.replace("the program ended with ", ""))
        }
        OutcomeKind::Output => {
            let own = message.rsplit_once(", which ").or(message.rsplit_once("; "))?.0;
            Some(own.replace("the program printed", "printed"))
        }
        OutcomeKind::Normal | OutcomeKind::Exception | OutcomeKind::Deadlock | OutcomeKind::Hang => None,
    }
}

/// How a run ended, in a few words: its own value, exit code or output without that of the serial orders, which have their own.
fn end(outcome: &Outcome) -> String {
    if let Some(own) = own_end(outcome).filter(|own| own.chars().count() <= MOST_OF_END) {
        return own;
    }
    let kind = words::outcome_kind(outcome.kind);
    match &outcome.thread {
        Some(thread) => format!("{kind} in {thread}"),
        None => kind.to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

/// A serial order that was run: its own steps and what it came to.
fn serial_order(finding: &Finding, run: &SerialRun, options: &Options<'_>, lines: &mut Lines) -> Value {
    let own: Vec<Value> = run
        .steps
        .iter()
        .map(|s| {
            // Which locks are held is not known of these steps.
            let does = format!("{} {}{}", words::who(s), words::step_does(s), words::at(s));
            let mut step = step(finding, s, options, lines);
            step["does"] = json!(does);
            step
        })
        .collect();
    let name = run.threads.join(", then ");
    json!({ "kind": "serial", "name": format!("Serial order: {name}"), "title": format!("Serial: {name}"), "own": own, "end": run.outcome })
}

/// The serial orders of the units when their steps are unknown: all that is known is that none has the outcome.
fn serial(finding: &Finding) -> Vec<Value> {
    let runs = finding.serial.iter().filter(|run| run.steps.is_empty());
    let unit_of = |thread: &str| finding.units.iter().find(|unit| unit.thread == thread);
    let card = |threads: &[&str], end: &str| {
        let units: Option<Vec<(&str, String)>> = threads
            .iter()
            .map(|t| Some((*t, naming::signature(&unit_of(t)?.method))))
            .collect();
        json!({ "title": format!("Serial: {}", threads.join(", then ")), "units": units.unwrap_or_default(), "end": end })
    };
    if !finding.serial.is_empty() {
        let names = |run: &SerialRun| run.threads.clone();
        return runs
            .map(|run| card(&names(run).iter().map(String::as_str).collect::<Vec<_>>(), &run.outcome))
            .collect();
    }
    if finding.evidence != Evidence::Harmful || !finding.rule.family().is_interruption() {
        return Vec::new();
    }
    match words::threads(finding).as_slice() {
        [a, b] => vec![card(&[a, b], "no such outcome"), card(&[b, a], "no such outcome")],
        _ => Vec::new(),
    }
}

/// The steps in the order in which they were recorded, if the report knows it.
fn recorded_order(finding: &Finding, report: &Report) -> Option<Vec<usize>> {
    let moments = report.recordings.iter().find_map(|r| r.moments.get(&finding.id))?;
    let mut order: Vec<usize> = (0..finding.steps.len()).collect();
    order.sort_by_key(|&i| moments.get(i));
    (moments.len() == order.len()).then_some(order)
}

fn step(finding: &Finding, step: &FindingStep, options: &Options<'_>, lines: &mut Lines) -> Value {
    let frame = step.frame();
    let via = words::call_in_unit(finding, step).map(|frame| {
        json!({
            "method": naming::qualified_method(&frame.name()),
            "place": frame.place_or_class(),
            "path": keep_source(&frame, options, lines),
            "line": frame.line,
        })
    });
    json!({
        "thread": step.thread,
        "op": step.op,
        "variable": step.variable,
        "word": naming::variable::word(&step.variable),
        "deed": words::step_does(step),
        "does": words::step_told(step),
        "method": words::step_method(step),
        "inside": step.inside.as_deref().map(naming::qualified_method),
        "place": words::place(step),
        "path": keep_source(&frame, options, lines),
        "line": step.line,
        "via": via,
        "locks": step.locks.iter().map(|l| naming::lock::short(l)).collect::<Vec<_>>(),
        "lock": words::lock_of(step).map(naming::lock::short),
        "holding": words::holding(step),
        "stack": step.stack.iter().map(|f| Frame::parse(f).short()).collect::<Vec<_>>(),
    })
}

/// The path of a frame's source, whose lines around it are kept for the page; none if there is no source.
fn keep_source(frame: &Frame<'_>, options: &Options<'_>, lines: &mut Lines) -> Option<String> {
    let source = options.sources.find(frame.class, frame.file)?;
    if frame.line > 0 {
        let known = lines.entry(source.path.clone()).or_default();
        for number in frame.line.saturating_sub(CONTEXT)..=frame.line.saturating_add(CONTEXT) {
            if let Some(text) = source.line(number) {
                known.entry(number).or_insert_with(|| layout::expand_tabs(text));
            }
        }
    }
    Some(source.path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_tells_its_own_end() {
        let told = |kind, message: &str| end(&Outcome::new(kind, message));
        let exit = "the program ended with exit code 1; every serial order ends with 0";
        assert_eq!(told(OutcomeKind::Exit, exit), "exit code 1");
        let output = "the program printed \"left: -1\", which no serial order prints";
        assert_eq!(told(OutcomeKind::Output, output), "printed \"left: -1\"");
        let value = "Stock.left was -1; every serial order gives 1";
        assert_eq!(told(OutcomeKind::Value, value), "Stock.left was -1");
        assert_eq!(
            told(OutcomeKind::Exception, "java.lang.Error: 1; 2"),
            "uncaught exception"
        );
        let long = format!("Log.text was {}; every serial order gives \"\"", "x".repeat(120));
        assert_eq!(told(OutcomeKind::Value, &long), "wrong value");
    }

    #[test]
    fn a_recorded_step_has_no_values_of_the_forced_run_and_does_not_block() {
        let forced = FindingStep {
            op: "block".to_owned(),
            value: Some("3".to_owned()),
            ..FindingStep::default()
        };
        let recorded = recorded_step(&forced);
        assert_eq!((recorded.op.as_str(), recorded.value), ("acquire", None));
    }
}
