//! Two reports compared by the ids of their findings: what is shown now and was not before, what is gone, and whose evidence
//! changed. Separate from the baseline, which a project keeps: a comparison needs no file but the two reports.

use ravel_analysis::finding::{Finding, Report};
use serde_json::{Value, json};

use crate::{layout, words};

/// What changed from one report to the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Diff<'r> {
    /// Shown now, and not before.
    pub new: Vec<&'r Finding>,
    /// Shown before, and not now, with the finding of now if it is held back.
    pub gone: Vec<(&'r Finding, Option<&'r Finding>)>,
    /// Shown in both with different evidence: before and now.
    pub changed: Vec<(&'r Finding, &'r Finding)>,
    /// Shown in both with the same evidence.
    pub same: usize,
    /// What makes the comparison less than it seems.
    pub warnings: Vec<String>,
}

impl<'r> Diff<'r> {
    /// Compares what two reports show; with `all`, what they hold back as well.
    pub fn between(old: &'r Report, new: &'r Report, all: bool) -> Diff<'r> {
        let is_visible = |f: &Finding| all || f.shown;
        let of = |report: &'r Report, id: &str| report.findings.iter().find(|f| f.id == id);
        let mut diff = Diff {
            new: Vec::new(),
            gone: Vec::new(),
            changed: Vec::new(),
            same: 0,
            warnings: warnings(old, new),
        };
        for finding in new.findings.iter().filter(|f| is_visible(f)) {
            match of(old, &finding.id).filter(|before| is_visible(before)) {
                None => diff.new.push(finding),
                Some(before) if before.evidence != finding.evidence => diff.changed.push((before, finding)),
                Some(_) => diff.same += 1,
            }
        }
        for finding in old.findings.iter().filter(|f| is_visible(f)) {
            let now = of(new, &finding.id);
            if !now.is_some_and(is_visible) {
                diff.gone.push((finding, now));
            }
        }
        diff
    }

    /// For people.
    pub fn text(&self, columns: usize) -> String {
        let mut out = String::new();
        for finding in &self.new {
            let evidence = words::evidence(finding.evidence);
            entry(&mut out, "new", finding, evidence, columns);
        }
        for (before, now) in &self.changed {
            let evidence = format!(
                "{} now, {} before",
                words::evidence(now.evidence),
                words::evidence(before.evidence)
            );
            entry(&mut out, "evidence", now, &evidence, columns);
        }
        for (before, now) in &self.gone {
            let evidence = match now {
                Some(now) => format!(
                    "held back: {} now, {} before",
                    words::evidence(now.evidence),
                    words::evidence(before.evidence)
                ),
                None => words::evidence(before.evidence).to_owned(),
            };
            entry(&mut out, "gone", before, &evidence, columns);
        }
        out.push_str(&format!(
            "{} new, {} gone, {} with different evidence, {} the same\n",
            self.new.len(),
            self.gone.len(),
            self.changed.len(),
            self.same
        ));
        for warning in &self.warnings {
            out.push_str(&format!("warning: {warning}\n"));
        }
        out
    }

    /// For tools.
    pub fn json(&self) -> Value {
        let ids = |findings: &[&Finding]| findings.iter().map(|f| f.id.clone()).collect::<Vec<_>>();
        let gone: Vec<&Finding> = self.gone.iter().map(|(before, _)| *before).collect();
        let changed: Vec<Value> = self
            .changed
            .iter()
            .map(|(before, now)| json!({ "id": now.id, "before": before.evidence, "now": now.evidence }))
            .collect();
        json!({
            "version": 1, "new": ids(&self.new), "gone": ids(&gone), "changed": changed, "same": self.same,
            "warnings": self.warnings,
        })
    }
}

/// A bug that a run did not get to is not a bug that is gone.
fn warnings(old: &Report, new: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, report) in [("old", old), ("new", new)] {
        if !report.complete {
            warnings.push(format!("the {name} report is incomplete: its work was interrupted"));
        }
        if report.summary.events == 0 && report.summary.classes.instrumented == 0 {
            warnings.push(format!("the {name} report has no recorded events"));
        }
    }
    warnings
}

fn entry(out: &mut String, what: &str, finding: &Finding, evidence: &str, columns: usize) {
    let place = words::main_place(finding).map(|main| main.place()).unwrap_or_default();
    let head = format!(
        "{what:<9}{} [{}] {evidence}  {place}",
        finding.id,
        words::rule(finding.rule)
    );
    out.push_str(layout::clean(&head).trim_end());
    out.push('\n');
    for line in layout::wrap(&layout::clean(&finding.message), columns.saturating_sub(9)) {
        out.push_str(&format!("{:9}{line}\n", ""));
    }
}

#[cfg(test)]
mod tests {
    use ravel_analysis::finding::{Evidence, Rule, Summary};

    use super::*;

    fn finding(id: &str, evidence: Evidence, shown: bool) -> Finding {
        let text = json!({
            "id": id, "rule": Rule::DataRace, "evidence": evidence, "shown": shown, "patterns": [], "analyses": [], "variables": [],
            "units": [], "steps": [], "outcome": null, "schedule": [], "replay": "", "message": format!("message of {id}"), "help": "",
        });
        serde_json::from_value(text).expect("a finding")
    }

    fn report(findings: Vec<Finding>) -> Report {
        Report {
            findings,
            summary: Summary {
                events: 1,
                ..Summary::default()
            },
            ..Report::default()
        }
    }

    #[test]
    fn new_gone_and_changed_are_told_apart() {
        let old = report(vec![
            finding("same", Evidence::Harmful, true),
            finding("grows", Evidence::Confirmed, true),
            finding("gone", Evidence::Harmful, true),
            finding("fades", Evidence::Confirmed, true),
            finding("rises", Evidence::Predicted, false),
        ]);
        let new = report(vec![
            finding("same", Evidence::Harmful, true),
            finding("grows", Evidence::Harmful, true),
            finding("fades", Evidence::Predicted, false),
            finding("rises", Evidence::Harmful, true),
            finding("held", Evidence::Suspected, false),
        ]);
        let diff = Diff::between(&old, &new, false);
        let told = diff.json();
        assert_eq!(told["new"], json!(["rises"]), "held back before counts as new");
        assert_eq!(told["gone"], json!(["gone", "fades"]));
        assert_eq!(
            told["changed"],
            json!([{ "id": "grows", "before": "confirmed", "now": "harmful" }])
        );
        assert_eq!((diff.same, diff.warnings.len()), (1, 0));
        let text = diff.text(80);
        assert!(
            text.contains("new      rises [data-race] harmful\n         message of rises\n"),
            "{text}"
        );
        assert!(text.contains("held back: predicted now, confirmed before"), "{text}");
        assert!(
            text.ends_with("1 new, 2 gone, 1 with different evidence, 1 the same\n"),
            "{text}"
        );
        let all = Diff::between(&old, &new, true).json();
        assert_eq!((&all["new"], &all["gone"]), (&json!(["held"]), &json!(["gone"])));
    }

    #[test]
    fn a_run_that_saw_nothing_proves_nothing_gone() {
        let old = report(vec![finding("a", Evidence::Harmful, true)]);
        let new = Report {
            complete: false,
            ..Report::default()
        };
        let diff = Diff::between(&old, &new, false);
        assert_eq!((diff.gone.len(), diff.warnings.len()), (1, 2), "{:?}", diff.warnings);
    }
}
