//! The summary at the end: recorded, seen, analysed, forced, found, held back, each on a line or two, so that the
//! last screen of a run answers what was done and what to do next.

use ravel_analysis::finding::{Evidence, Finding, Report};

use super::style::{Look, Style};
use crate::layout::{clean, wrap};
use crate::{Options, words};

/// Width of the first column.
const NAME: usize = 12;

/// The summary.
pub fn render(report: &Report, options: &Options<'_>) -> String {
    let style = Style::new(options.color, options.unicode);
    let columns = super::columns(options);
    let shown: Vec<&Finding> = report.findings.iter().filter(|f| f.shown).collect();
    let held: Vec<&Finding> = report.findings.iter().filter(|f| !f.shown).collect();
    let mut lines = Vec::new();
    let mut row = |name: &str, look: Look, text: &str| {
        for (index, line) in wrap(&clean(text), columns - NAME - 2).iter().enumerate() {
            let name = format!("  {:<NAME$}", if index == 0 { name } else { "" });
            lines.push(format!("{}{line}", style.paint(look, &name)));
        }
    };
    let dot = format!(" {} ", style.glyphs.dot);
    let mut recorded = report.program.clone();
    if let Some(note) = &options.notes.recorded {
        recorded = if recorded.is_empty() {
            note.clone()
        } else {
            format!("{recorded}{dot}{note}")
        };
    }
    if !recorded.is_empty() {
        row("recorded", Look::Bold, &recorded);
    }
    row("seen", Look::Bold, &seen(report, &dot));
    if let Some(analysed) = options.notes.analysed.clone().or_else(|| analyses(report)) {
        row("analysed", Look::Bold, &analysed);
    }
    if let Some(forced) = options.notes.forced.clone().or_else(|| forced(report)) {
        row("forced", Look::Bold, &forced);
    }
    row("found", found_look(&shown), &found(&shown));
    if !held.is_empty() {
        let text = if options.all {
            format!("{}, shown above because of --all", by_evidence(&held))
        } else {
            format!("{}: not proven harmful; see them with --all", by_evidence(&held))
        };
        row("held back", Look::Bold, &text);
    }
    let accepted = accepted(options);
    if !accepted.is_empty() {
        row("accepted", Look::Bold, &accepted);
    }
    if report.summary.classes.failed > 0 {
        let failed = words::count(report.summary.classes.failed, "class").replace("classs", "classes");
        row(
            "warning",
            Look::Warn,
            &format!("{failed} could not be instrumented: what they do was not seen"),
        );
    }
    for warning in &options.notes.warnings {
        row("warning", Look::Warn, warning);
    }
    let mut out = lines.join("\n");
    out.push('\n');
    out
}

fn seen(report: &Report, dot: &str) -> String {
    let summary = &report.summary;
    if summary.events == 0 && summary.classes.instrumented == 0 {
        return "nothing: no event was recorded, so this says nothing about the program".to_owned();
    }
    let mut parts = Vec::new();
    if summary.events > 0 {
        parts.push(words::count(summary.events, "event"));
        parts.push(words::count(summary.threads, "thread"));
    }
    if summary.classes.instrumented > 0 {
        let mut classes = words::count(summary.classes.instrumented, "class").replace("classs", "classes");
        if summary.classes.skipped > 0 {
            classes = format!("{classes} ({} left out)", words::number(summary.classes.skipped));
        }
        parts.push(classes);
    }
    parts.join(dot)
}

fn analyses(report: &Report) -> Option<String> {
    let mut names: Vec<&str> = report
        .findings
        .iter()
        .flat_map(|f| &f.analyses)
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| format!("findings by {}", names.join(", ")))
}

fn forced(report: &Report) -> Option<String> {
    let happened = report
        .findings
        .iter()
        .filter(|f| f.evidence >= Evidence::Confirmed)
        .count();
    let failed = report
        .findings
        .iter()
        .filter(|f| f.evidence < Evidence::Confirmed && f.outcome.is_some())
        .count();
    match (happened, failed) {
        (0, 0) => None,
        (happened, 0) => Some(format!("{happened} happened again when forced")),
        (happened, failed) => Some(format!("{happened} happened again when forced, {failed} did not")),
    }
}

fn found(shown: &[&Finding]) -> String {
    if shown.is_empty() {
        return "no bug that was shown to do harm".to_owned();
    }
    let bugs = words::count(u64::try_from(shown.len()).unwrap_or(u64::MAX), "bug");
    format!("{bugs}: {}", by_evidence(shown))
}

fn found_look(shown: &[&Finding]) -> Look {
    match shown.iter().map(|f| f.evidence).max() {
        Some(evidence) => Style::of_evidence(evidence),
        None => Look::Good,
    }
}

fn by_evidence(findings: &[&Finding]) -> String {
    let parts: Vec<String> = words::LADDER
        .into_iter()
        .map(|e| (e, findings.iter().filter(|f| f.evidence == e).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(e, n)| format!("{n} {}", words::evidence(e)))
        .collect();
    parts.join(", ")
}

fn accepted(options: &Options<'_>) -> String {
    let mut parts = Vec::new();
    if options.notes.suppressed > 0 {
        parts.push(format!("{} suppressed by ravel.toml", options.notes.suppressed));
    }
    if options.notes.baselined > 0 {
        parts.push(format!("{} in the baseline", options.notes.baselined));
    }
    parts.join(", ")
}
