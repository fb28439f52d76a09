//! The sample reports in `docs/examples`: every rule has one, and its text and SARIF are what Ravel makes of its findings today.
//! `make examples` runs the programs and brings them up to date; `BLESS=1` renders the checked-in findings again.

use std::path::{Path, PathBuf};

use crate::common;
use ravel_analysis::finding::{Evidence, Report, Rule, Summary};
use ravel_report::layout::width;
use ravel_report::{Format, Options, SourceFinder, json, render, words};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the root")
}

fn file(name: &str) -> PathBuf {
    root().join("docs/examples").join(name)
}

fn is_bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a file with what it should be, or writes it.
fn in_step(name: &str, expected: &str) {
    if is_bless() {
        std::fs::write(file(name), expected).expect("docs/examples is writable");
    }
    let actual = std::fs::read_to_string(file(name)).unwrap_or_default();
    assert!(
        actual == expected,
        "docs/examples/{name} is out of step; BLESS=1 renders it again, `make examples` runs its program again"
    );
}

/// The report of a rule, with that finding alone and without what differs from run to run.
pub fn example(rule: Rule) -> Report {
    let name = format!("{}.json", words::rule(rule));
    let text = std::fs::read_to_string(file(&name)).unwrap_or_else(|error| panic!("{name}: {error}; `make examples`"));
    let mut report = json::read(&text).expect("a report");
    let at = report.findings.iter().position(|finding| finding.rule == rule);
    let at = at.unwrap_or_else(|| panic!("{name} has no finding of its rule"));
    report.findings = vec![report.findings.swap_remove(at)];
    report.suspicions.clear();
    report.directed.clear();
    report.summary = Summary {
        times: None,
        ..report.summary
    };
    report
}

/// The sources of the programs that the samples come from.
pub fn sources() -> SourceFinder {
    let mut sources = SourceFinder::new(root());
    for folder in ["bugs", "examples", "failures"] {
        sources.add(root().join("subjects").join(folder));
    }
    sources
}

/// The log without the pages of the other rules, which would be most of it.
fn with_one_rule(log: &str, rule: Rule) -> String {
    let mut log: Value = serde_json::from_str(log).expect("JSON");
    let run = &mut log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array_mut().expect("rules");
    rules.retain(|one| one["id"] == words::rule(rule));
    for result in run["results"].as_array_mut().expect("results") {
        result["ruleIndex"] = 0.into();
    }
    assert!(common::sarif_validator().iter_errors(&log).next().is_none(), "{rule:?}");
    format!("{log:#}\n")
}

#[test]
fn every_rule_has_a_sample_report_that_is_in_step() {
    let sources = sources();
    let mut index = String::from(
        "# Sample reports\n\nA finding of each rule, as Ravel reports it: on a terminal, as SARIF (with the page of its own rule only), as JSON, and as an HTML page.\n\
         `make examples` runs the programs in `subjects/` and makes all of them again. [ravel.yml](ravel.yml) is a workflow for GitHub.\n\n\
         | rule | evidence | program | reports |\n|---|---|---|---|\n",
    );
    for &rule in Rule::ALL {
        let name = words::rule(rule);
        let report = example(rule);
        in_step(&format!("{name}.json"), &json::render(&report));
        let options = Options {
            all: true,
            ..Options::new(&sources)
        };
        let text = render(&report, Format::Text, &options);
        in_step(&format!("{name}.txt"), &text);
        let summary = |line: &str| {
            ["  recorded ", "  scanned ", "  seen "]
                .iter()
                .any(|row| line.starts_with(row))
        };
        let rows = text.lines().take_while(|line| !summary(line)).count();
        // A screen of 80 by 24, with a row for the prompt; only commands may be longer, because they are copied.
        assert!(rows <= 24, "{name}: {rows} rows do not fit a screen\n{text}");
        let is_command = |line: &&str| {
            ["  see it again: ", "  more: "]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let wide = text
            .lines()
            .filter(|line| !is_command(line))
            .find(|line| width(line) > 80);
        assert_eq!(wide, None, "{name} is wider than a screen");
        in_step(
            &format!("{name}.sarif"),
            &with_one_rule(&render(&report, Format::Sarif, &options), rule),
        );
        if let Some(folder) = std::env::var_os("EXAMPLES_HTML") {
            let folder = Path::new(&folder);
            std::fs::write(
                folder.join(format!("{name}.html")),
                render(&report, Format::Html, &options),
            )
            .expect("written");
            // Enough for the sentence, the steps and the orders beside them.
            let height = match report.findings[0].steps.len() {
                0..=1 => 420,
                2 => 600,
                3..=4 => 780,
                _ => 900,
            };
            std::fs::write(folder.join(format!("{name}.height")), height.to_string()).expect("written");
        }
        let finding = &report.findings[0];
        let source = sources
            .find(&finding.steps[0].class, &finding.steps[0].file)
            .expect("the source of its first step");
        index.push_str(&format!(
            "| [{name}](../rules.md#{name}) | {} | [{}](../../{}) | [text]({name}.txt), [SARIF]({name}.sarif), [JSON]({name}.json), [picture]({name}.png) |\n",
            words::evidence(finding.evidence),
            finding.steps[0].file,
            source.path,
        ));
        let by_scan = report.summary.events == 0;
        assert_eq!(
            by_scan,
            finding.steps.iter().all(|step| step.thread.is_empty()),
            "{name}"
        );
        assert!(
            by_scan == (finding.evidence == Evidence::Suspected) || rule == Rule::LockDiscipline,
            "{name}"
        );
        let files = ["json", "txt", "sarif"].map(|ending| std::fs::read_to_string(file(&format!("{name}.{ending}"))));
        for text in files.into_iter().flatten() {
            for path in ["/tmp/", "/home/", "/root/", "/usr/", "/work/", "/var/"] {
                assert!(
                    !text.contains(path),
                    "{name} has a path of the machine that made it: {path}"
                );
            }
        }
    }
    in_step("README.md", &index);
}

/// The pictures need a browser and are drawn by `make examples` alone.
#[test]
fn every_rule_has_a_picture() {
    let mut total = 0;
    for &rule in Rule::ALL {
        let name = format!("{}.png", words::rule(rule));
        let size = std::fs::metadata(file(&name)).map_or(0, |found| found.len());
        // While `make examples` renders the pages there may be none yet.
        assert!(size > 0 || is_bless(), "no {name}; `make examples` draws it");
        total += size;
    }
    assert!(total < 1_500_000, "{total} bytes of pictures");
}
