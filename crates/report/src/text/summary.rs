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
    let mut out = String::new();
    for (name, look, text) in rows(report, options) {
        for (index, line) in wrap(&clean(&text), columns - NAME - 2).iter().enumerate() {
            let name = format!("  {:<NAME$}", if index == 0 { name } else { "" });
            out.push_str(&format!("{}{line}\n", style.paint(look, &name)));
        }
    }
    out
}

/// Name, look and text of each row.
pub fn rows(report: &Report, options: &Options<'_>) -> Vec<(&'static str, Look, String)> {
    let (shown, held): (Vec<&Finding>, Vec<&Finding>) = report.findings.iter().partition(|f| f.shown);
    let notes = &options.notes;
    let dot = format!(" {} ", Style::new(false, options.unicode).glyphs.dot);
    let mut rows = Vec::new();
    let program = Some(words::program(&report.program)).filter(|p| !p.is_empty());
    let recorded: Vec<String> = program.into_iter().chain(notes.recorded.clone()).collect();
    if !recorded.is_empty() {
        // No events and no trace: nothing ran, the code was read.
        let scanned = report.summary.events == 0 && report.recordings.is_empty();
        let name = if scanned && notes.recorded.is_none() {
            "scanned"
        } else {
            "recorded"
        };
        rows.push((name, Look::Bold, recorded.join(&dot)));
    }
    rows.push(("seen", Look::Bold, seen(report, &dot)));
    if let Some(analysed) = notes.analysed.clone().or_else(|| analyses(report)) {
        rows.push(("analysed", Look::Bold, analysed));
    }
    if let Some(forced) = notes.forced.clone().or_else(|| forced(report)) {
        rows.push(("forced", Look::Bold, forced));
    }
    rows.push(("found", found_look(&shown), verdict(report, &shown, options)));
    if !held.is_empty() {
        let how = if options.all {
            ", shown above because of --all"
        } else {
            ": not proven harmful; see "
        };
        let them = them(held.len(), options);
        rows.push(("held back", Look::Bold, format!("{}{how}{them}", by_evidence(&held))));
    }
    if !report.suspicions.is_empty() {
        rows.push(("in code", Look::Bold, in_code(report, options)));
    }
    let accepted = accepted(options);
    if !accepted.is_empty() {
        rows.push(("accepted", Look::Bold, accepted));
    }
    if report.summary.classes.failed > 0 {
        let failed = classes(report.summary.classes.failed);
        let what = if report.summary.events == 0 {
            "read"
        } else {
            "instrumented"
        };
        let they_do = if report.summary.classes.failed == 1 {
            "it does"
        } else {
            "they do"
        };
        let text = format!("{failed} could not be {what}: what {they_do} was not seen");
        rows.push(("warning", Look::Warn, text));
    }
    let warnings = options.warnings(report).into_iter();
    rows.extend(warnings.map(|w| ("warning", Look::Warn, w.to_owned())));
    rows
}

fn classes(n: u64) -> String {
    format!("{} class{}", words::number(n), if n == 1 { "" } else { "es" })
}

fn seen(report: &Report, dot: &str) -> String {
    let summary = &report.summary;
    if summary.events == 0 && summary.classes.instrumented == 0 {
        let what = if report.recordings.is_empty() {
            "no class was read"
        } else {
            "no event was recorded"
        };
        return format!("nothing: {what}, so this says nothing about the program");
    }
    let mut parts = Vec::new();
    if summary.events > 0 {
        parts.push(words::count(summary.events, "event"));
        parts.push(words::count(summary.threads, "thread"));
    }
    if summary.classes.instrumented > 0 {
        let mut classes = classes(summary.classes.instrumented);
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
        (0, failed) => Some(format!("{} did not happen", words::count(failed as u64, "finding"))),
        (happened, failed) => {
            let failed = match failed {
                0 => String::new(),
                failed => format!(", {failed} did not"),
            };
            Some(format!(
                "{} happened in a forced run{failed}",
                words::count(happened as u64, "finding")
            ))
        }
    }
}

/// What was proven, and what was not: likely bugs that no run could test, and what cost most of them their proof.
fn verdict(report: &Report, shown: &[&Finding], options: &Options<'_>) -> String {
    let untested = |f: &&Finding| !f.shown && matches!(f.evidence, Evidence::Predicted | Evidence::Witnessed);
    let likely: Vec<&Finding> = report.findings.iter().filter(untested).collect();
    let found = found(shown);
    if likely.is_empty() {
        return found;
    }
    let tried = likely.iter().any(|f| f.limit.is_some());
    let not = if tried { "could not be tested" } else { "not tested" };
    let mut text = format!("{found}; {} {not}", words::count(likely.len() as u64, "likely bug"));
    if !options.all {
        text.push_str(", see --all");
    }
    if let Some(reason) = &options.notes.untested {
        text.push_str(&format!(" ({reason})"));
    }
    text
}

fn found(shown: &[&Finding]) -> String {
    if shown.is_empty() {
        return "no bug proven".to_owned();
    }
    let count = |noun| words::count(u64::try_from(shown.len()).unwrap_or(u64::MAX), noun);
    if shown.iter().all(|f| f.evidence == Evidence::Suspected) {
        let what = match shown.len() {
            1 => "a rule of thumb",
            _ => "rules of thumb",
        };
        return format!(
            "{}: {what} that the code breaks, not tried in a run",
            count("suspicion")
        );
    }
    format!("{}: {}", count("bug"), by_evidence(shown))
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

/// What the static scan suspects of classes that ran. It is no finding of the run and never decides how a run ends.
fn in_code(report: &Report, options: &Options<'_>) -> String {
    let count = words::count(report.suspicions.len() as u64, "suspicion");
    let how = if options.all {
        ", shown above because of --all"
    } else {
        "; see "
    };
    let them = them(report.suspicions.len(), options);
    format!("{count} of the static scan, {}{how}{them}", words::ONLY_IN_CODE)
}

/// How to see so many that are not shown.
fn them(count: usize, options: &Options<'_>) -> &'static str {
    match (options.all, count) {
        (true, _) => "",
        (false, 1) => "it with --all",
        (false, _) => "them with --all",
    }
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
