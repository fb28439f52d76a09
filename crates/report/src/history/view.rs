//! A history as a table for the terminal, as JSON, and as a page that opens from disk and asks the network for nothing.

use serde_json::{Value, json};

use super::{History, HistoryError, KeptFinding, KeptRun};
use crate::html::escape;
use crate::{layout, words};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8885}\
code{font-family:ui-monospace,monospace}tr.gone{opacity:.65}.harmful{color:#c62828;font-weight:600}.confirmed{color:#b26a00;font-weight:600}";

impl History {
    /// The table for people; with `all`, also what no run showed.
    pub fn text(&self, all: bool, columns: usize) -> Result<String, HistoryError> {
        let (runs, findings) = self.visible(all)?;
        let mut out = String::new();
        for finding in &findings {
            let head = format!(
                "{} [{}] {}  {}",
                finding.id,
                words::rule(finding.rule),
                state(finding, &runs),
                finding.place
            );
            out.push_str(layout::clean(&head).trim_end());
            out.push('\n');
            for line in layout::wrap(&layout::clean(&finding.message), columns.saturating_sub(9)) {
                out.push_str(&format!("{:9}{line}\n", ""));
            }
            out.push_str(&format!(
                "{:9}{}; evidence {}\n",
                "",
                dates(finding, &runs),
                levels(finding)
            ));
        }
        out.push_str(&verdict(&runs, &findings));
        out.push('\n');
        Ok(out)
    }

    /// For tools.
    pub fn json(&self, all: bool) -> Result<Value, HistoryError> {
        let (runs, findings) = self.visible(all)?;
        let of_run = |run: &KeptRun| json!({ "run": run.number, "day": run.day.to_string(), "program": run.program, "complete": run.counts });
        let of_finding = |finding: &KeptFinding| {
            let seen = |number: Option<i64>| number.and_then(|number| day(&runs, number));
            let evidence = finding.seen.iter();
            let evidence: Vec<Value> = evidence
                .map(|seen| json!({ "run": seen.run, "evidence": seen.evidence, "shown": seen.shown }))
                .collect();
            json!({
                "id": finding.id, "rule": finding.rule, "place": finding.place, "program": finding.program, "message": finding.message,
                "first_seen": seen(finding.seen.first().map(|seen| seen.run)),
                "last_seen": seen(finding.seen.last().map(|seen| seen.run)),
                "evidence": evidence,
                "gone_since": finding.gone.as_ref().map(|(run, _)| run.day.to_string()),
                "runs_without": finding.gone.as_ref().map_or(0, |(_, count)| *count),
            })
        };
        Ok(json!({
            "version": 1,
            "runs": runs.iter().map(of_run).collect::<Vec<_>>(),
            "findings": findings.iter().map(of_finding).collect::<Vec<_>>(),
        }))
    }

    /// The page.
    pub fn html(&self, all: bool) -> Result<String, HistoryError> {
        let (runs, findings) = self.visible(all)?;
        let row = |finding: &KeptFinding| {
            let class = if finding.gone.is_some() { " class=\"gone\"" } else { "" };
            let last = finding.seen.last().map_or("", |seen| words::evidence(seen.evidence));
            format!(
                "<tr{class}><td><code>{}</code></td><td>{}</td><td class=\"{last}\">{}</td><td>{}</td><td>{}</td><td><code>{}</code><br>{}</td></tr>\n",
                escape(&finding.id),
                escape(words::rule(finding.rule)),
                escape(&state(finding, &runs)),
                escape(&dates(finding, &runs)),
                escape(&levels(finding)),
                escape(&finding.place),
                escape(&finding.message),
            )
        };
        let rows: String = findings.iter().map(row).collect();
        Ok(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>Ravel: history of findings</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>History of findings</h1>\n<p>{}</p>\n\
             <table>\n<thead><tr><th>id</th><th>rule</th><th>state</th><th>seen</th><th>evidence by run</th><th>what</th></tr></thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n</body>\n</html>\n",
            escape(&verdict(&runs, &findings))
        ))
    }

    fn visible(&self, all: bool) -> Result<(Vec<KeptRun>, Vec<KeptFinding>), HistoryError> {
        let mut findings = self.findings()?;
        findings.retain(|finding| all || finding.was_shown());
        Ok((self.runs()?, findings))
    }

    /// When a finding was seen before, in words; none if it never was.
    pub fn seen_before(&self, id: &str) -> Result<Option<String>, HistoryError> {
        let runs = self.runs()?;
        let all = self.findings()?;
        let known = all.iter().find(|finding| finding.id == id);
        Ok(known.map(|finding| dates(finding, &runs)))
    }
}

fn day(runs: &[KeptRun], number: i64) -> Option<String> {
    let mut all = runs.iter();
    all.find(|run| run.number == number).map(|run| run.day.to_string())
}

/// `harmful`, or since when it is gone.
fn state(finding: &KeptFinding, runs: &[KeptRun]) -> String {
    match &finding.gone {
        Some((run, count)) => {
            let runs = words::count(*count as u64, "complete run");
            format!("gone since {} ({runs} without it)", run.day)
        }
        None => {
            let last = finding.seen.last();
            let held = last.is_some_and(|seen| !seen.shown);
            let evidence = last.map_or("", |seen| words::evidence(seen.evidence));
            let late = last.is_some_and(|seen| {
                runs.iter()
                    .all(|run| run.number <= seen.run || run.program != finding.program)
            });
            match (held, late) {
                (false, true) => evidence.to_owned(),
                (true, true) => format!("{evidence}, held back"),
                (_, false) => format!("{evidence}, not in a later incomplete run"),
            }
        }
    }
}

/// `seen in 3 of 5 runs, first 2026-11-01, last 2026-11-17`
fn dates(finding: &KeptFinding, runs: &[KeptRun]) -> String {
    let of = |seen: Option<&super::Seen>| seen.and_then(|seen| day(runs, seen.run)).unwrap_or_default();
    let own = runs.iter().filter(|run| run.program == finding.program).count();
    format!(
        "seen in {} of {}, first {}, last {}",
        finding.seen.len(),
        words::count(own.max(finding.seen.len()) as u64, "run"),
        of(finding.seen.first()),
        of(finding.seen.last())
    )
}

/// `predicted (run 1), harmful (run 3)`
fn levels(finding: &KeptFinding) -> String {
    let levels = finding.levels();
    let one = |seen: &super::Seen| format!("{} (run {})", words::evidence(seen.evidence), seen.run);
    levels.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn verdict(runs: &[KeptRun], findings: &[KeptFinding]) -> String {
    let gone = findings.iter().filter(|finding| finding.gone.is_some()).count();
    format!(
        "{} in {}: {} open, {gone} gone",
        words::count(findings.len() as u64, "finding"),
        words::count(runs.len() as u64, "run"),
        findings.len() - gone
    )
}
