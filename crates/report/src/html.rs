//! The HTML report: one file that opens from disk and asks the network for nothing. The page, its style and its script
//! are the files under `html/`; this module puts in the data. Everything that needs judgement (names, sentences, the
//! decisive step) is worked out here, so that the script only draws and filters.

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::finding::{Evidence, Finding, FindingStep, Recording, Report};
use ravel_trace::naming::{self, Frame};
use serde_json::{Value, json};

use crate::format::{Form, Renderer};
use crate::{Options, text, words};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");
/// Source lines kept around a step.
const CONTEXT: u32 = 2;
/// How many findings a reader without JavaScript gets as text.
const PLAIN_FINDINGS: usize = 100;

/// The format.
pub const FORMAT: Renderer = Renderer {
    name: "html",
    endings: &["html", "htm"],
    form: Form::Told,
    render,
};

/// The page. It has every finding; those held back are behind a filter.
pub fn render(report: &Report, options: &Options<'_>) -> String {
    let title = if report.program.is_empty() {
        "Ravel report".to_owned()
    } else {
        format!("Ravel: {}", words::program(&report.program))
    };
    let in_code = format!("{}; see the end of the page", words::ONLY_IN_CODE);
    let summary: String = text::summary_rows(report, options)
        .iter()
        .map(|(name, text)| {
            format!(
                "<dt>{}</dt><dd>{}</dd>\n",
                escape(name),
                escape(
                    &text
                        .replace(&format!("{}; see them with --all", words::ONLY_IN_CODE), &in_code)
                        .replace("see them with --all", "tick “held back too” to see them")
                        .replace(", see --all", "")
                        .replace(", shown above because of --all", "")
                )
            )
        })
        .collect();
    let plain_options = Options {
        color: false,
        unicode: true,
        width: 80,
        ..Options::new(options.sources)
    };
    let plain: String = report
        .findings
        .iter()
        .filter(|f| f.shown)
        .take(PLAIN_FINDINGS)
        .map(|f| text::render_finding(f, &plain_options) + "\n")
        .collect();
    let data = data(report, options).to_string();
    let suspicions = suspicions(report, &plain_options);
    fill(
        PAGE,
        &[
            ("@title@", &escape(&title)),
            ("@style@", STYLE),
            ("@summary@", &summary),
            ("@plain@", &escape(&plain)),
            ("@suspicions@", &suspicions),
            ("@data@", &escape_json(&data)),
            ("@script@", SCRIPT),
        ],
    )
}

/// What only the code says: a section of its own below the findings, closed until somebody opens it.
fn suspicions(report: &Report, options: &Options<'_>) -> String {
    if report.suspicions.is_empty() {
        return String::new();
    }
    let text: Vec<String> = report
        .suspicions
        .iter()
        .map(|f| text::render_finding(f, options))
        .collect();
    format!(
        "<section id=\"suspicions\" aria-label=\"Suspicions of the static scan\">\n<details>\n<summary>{} of the static scan, {}</summary>\n<pre>{}</pre>\n</details>\n</section>\n",
        words::count(report.suspicions.len() as u64, "suspicion"),
        words::ONLY_IN_CODE,
        escape(&text.join("\n"))
    )
}

/// Replaces each mark where it stands in the page; what is put in is not searched again, so data cannot pose as a mark.
fn fill(page: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((at, mark, part)) = parts
        .iter()
        .filter_map(|(mark, part)| rest.find(mark).map(|at| (at, *mark, *part)))
        .min_by_key(|(at, ..)| *at)
    {
        out.push_str(&rest[..at]);
        out.push_str(part);
        rest = &rest[at + mark.len()..];
    }
    out.push_str(rest);
    out
}

fn data(report: &Report, options: &Options<'_>) -> Value {
    let mut lines: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
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
        json!({ "trace": r.trace, "events": r.events, "cell": r.cell, "lanes": lanes, "more_threads": r.more_threads, "moments": r.moments })
    };
    report.recordings.iter().map(recording).collect()
}

/// An order of a finding's steps that a reader can step through.
fn orders(finding: &Finding, report: &Report) -> Vec<Value> {
    let told: Vec<usize> = (0..finding.steps.len()).collect();
    let recorded = recorded_order(finding, report);
    let is_recorded = |steps: &[usize]| recorded.as_deref() == Some(steps);
    let as_recorded = |steps: &[usize]| if is_recorded(steps) { " (as recorded)" } else { "" };
    let kind = match finding.evidence {
        Evidence::Harmful | Evidence::Confirmed => "forced: ",
        _ => "",
    };
    let heading = words::order_heading(finding);
    let mut orders =
        vec![json!({ "name": format!("{kind}{heading}{}", as_recorded(&told)), "steps": told, "broken": true })];
    let serial = finding.rule.family().is_interruption();
    let mut known = is_recorded(&told);
    if serial {
        for threads in permutations(&words::threads(finding)) {
            let of = |t: &&str| {
                told.iter()
                    .copied()
                    .filter(|i| finding.steps[*i].thread == **t)
                    .collect::<Vec<_>>()
            };
            let steps: Vec<usize> = threads.iter().flat_map(of).collect();
            known |= is_recorded(&steps);
            let name = format!("serial: {}{}", threads.join(", then "), as_recorded(&steps));
            orders.push(json!({ "name": name, "steps": steps, "broken": false }));
        }
    }
    if let Some(recorded) = recorded.filter(|_| !known) {
        orders.insert(1, json!({ "name": "recorded", "steps": recorded, "broken": false }));
    }
    orders
}

/// The steps in the order in which they were recorded, if the report knows it.
fn recorded_order(finding: &Finding, report: &Report) -> Option<Vec<usize>> {
    let moments = report.recordings.iter().find_map(|r| r.moments.get(&finding.id))?;
    let mut order: Vec<usize> = (0..finding.steps.len()).collect();
    order.sort_by_key(|&i| moments.get(i));
    (moments.len() == order.len()).then_some(order)
}

/// All orders of two or three threads; with more there are too many to look at.
fn permutations<'t>(threads: &[&'t str]) -> Vec<Vec<&'t str>> {
    match threads {
        [a, b] => vec![vec![a, b], vec![b, a]],
        [a, b, c] => [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
            .map(|order| order.map(|t| *t).to_vec())
            .to_vec(),
        _ => Vec::new(),
    }
}

fn finding(
    finding: &Finding,
    report: &Report,
    options: &Options<'_>,
    lines: &mut BTreeMap<String, BTreeMap<u32, String>>,
) -> Value {
    let units = words::units(finding);
    let packages: BTreeSet<&str> = finding.steps.iter().map(|s| naming::package(&s.class)).collect();
    let steps: Vec<Value> = finding.steps.iter().map(|s| step(s, options, lines)).collect();
    json!({
        "id": finding.id,
        "rule": words::rule(finding.rule),
        "evidence": words::evidence(finding.evidence),
        "meaning": words::meaning(finding),
        "limit": finding.limit,
        "shown": finding.shown,
        "message": finding.message,
        "help": finding.help,
        "replay": finding.replay,
        "where": words::main_place(finding).map(words::place).unwrap_or_default(),
        "patterns": finding.patterns,
        "analyses": finding.analyses,
        "variables": finding.variables,
        "names": words::variables(finding),
        "units": units,
        "packages": packages,
        "threads": words::threads(finding),
        "outcome": finding.outcome.as_ref().map(words::outcome),
        "orders": orders(finding, report),
        "decisive": words::decisive(finding),
        "schedule": finding.schedule,
        "steps": steps,
    })
}

fn step(step: &FindingStep, options: &Options<'_>, lines: &mut BTreeMap<String, BTreeMap<u32, String>>) -> Value {
    let source = options.sources.find(&step.class, &step.file);
    if let Some(source) = &source
        && step.line > 0
    {
        let known = lines.entry(source.path.clone()).or_default();
        for number in step.line.saturating_sub(CONTEXT)..=step.line.saturating_add(CONTEXT) {
            if let Some(text) = source.line(number) {
                known.entry(number).or_insert_with(|| crate::layout::expand_tabs(text));
            }
        }
    }
    json!({
        "thread": step.thread,
        "op": step.op,
        "variable": step.variable,
        "label": words::step_op(step),
        "does": words::step_told(step),
        "place": words::place(step),
        "path": source.map(|s| s.path.clone()),
        "line": step.line,
        "locks": step.locks.iter().map(|l| naming::lock::short(l)).collect::<Vec<_>>(),
        "lock": words::lock_of(step).map(naming::lock::short),
        "holding": words::holding(step),
        "stack": step.stack.iter().map(|f| Frame::parse(f).short()).collect::<Vec<_>>(),
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// JSON inside a script element ends at the first `</script`; a `<` written as an escape cannot begin one.
fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_searched_again() {
        assert_eq!(fill("<@a@|@b@>", &[("@a@", "@b@"), ("@b@", "@a@")]), "<@b@|@a@>");
    }

    #[test]
    fn every_mark_of_the_page_is_filled() {
        let report = Report {
            program: "p </script><script>alert(1)</script> @data@".to_owned(),
            ..Report::default()
        };
        let sources = crate::SourceFinder::none();
        let page = render(&report, &Options::new(&sources));
        assert_eq!(page.matches("</script>").count(), 2, "the page's own two scripts");
        assert!(!page.contains("@style@") && !page.contains("@script@"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!without_namespace.contains(outside), "{outside}");
        }
    }
}
