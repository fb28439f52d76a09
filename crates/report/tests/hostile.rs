//! Every format on damaged reports: whatever a report says, rendering neither panics nor breaks its own format.

use crate::common;
use ravel_analysis::finding::{Evidence, Finding, Outcome, OutcomeKind, Report, Rule};
use ravel_report::layout::width;
use ravel_report::{Format, Options, render, words};
use serde_json::Value;

/// Texts that a name, a message or a path may be, among them what breaks careless code.
const TEXTS: [&str; 16] = [
    "",
    "x",
    ".",
    "..",
    "a.b.C",
    "shop.Stock.items",
    "take(I)Z",
    "(",
    "L;)([",
    "日本語の名前",
    "e\u{301}\u{200d}👩‍👩‍👧",
    "\u{1b}[31m\u{0}\r\n\t",
    "</script>&<![CDATA[]]>\"'%:,",
    "../../etc/passwd",
    "Stock.java",
    "a very long text that goes on and on and on until no column of any terminal could hold it on a single line at all",
];

/// Seeded, so that every run sees the same reports.
struct Dice(fastrand::Rng);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0.usize(..sides)
    }

    fn text(&mut self) -> String {
        TEXTS[self.roll(TEXTS.len())].to_owned()
    }

    fn texts(&mut self) -> Vec<String> {
        (0..self.roll(4)).map(|_| self.text()).collect()
    }

    fn damage(&mut self, finding: &mut Finding) {
        finding.rule = Rule::ALL[self.roll(Rule::ALL.len())];
        finding.evidence = words::LADDER[self.roll(words::LADDER.len())];
        finding.shown = self.roll(4) > 0;
        for field in [&mut finding.message, &mut finding.help, &mut finding.replay] {
            if self.roll(3) == 0 {
                *field = self.text();
            }
        }
        finding.patterns = self.texts();
        finding.variables = self.texts();
        if self.roll(3) == 0 {
            finding.units.clear();
        }
        if finding.evidence >= Evidence::Confirmed {
            finding.outcome = Some(Outcome {
                kind: OutcomeKind::ALL[self.roll(8)],
                thread: Some(self.text()),
                stack: self.texts(),
                printed: self.texts(),
                message: self.text(),
            });
        }
        while self.roll(3) == 0 {
            let copy = finding.steps.first().cloned();
            finding.steps.extend(copy);
        }
        if self.roll(8) == 0 {
            finding.steps.clear();
        }
        for step in &mut finding.steps {
            for field in [
                &mut step.thread,
                &mut step.variable,
                &mut step.class,
                &mut step.method,
                &mut step.file,
            ] {
                if self.roll(4) == 0 {
                    *field = self.text();
                }
            }
            if self.roll(4) == 0 {
                step.op = ["acquire", "release", "block", "wait", "enter", "", "?"][self.roll(7)].to_owned();
            }
            if self.roll(4) == 0 {
                step.line = [0, 1, 9, 17, 26, 27, u32::MAX][self.roll(7)];
            }
            if self.roll(4) == 0 {
                step.locks = self.texts();
                step.stack = self.texts();
            }
        }
    }
}

fn damaged_reports() -> impl Iterator<Item = Report> {
    let mut dice = Dice(fastrand::Rng::with_seed(7));
    let originals = common::REPORTS.map(common::report);
    (0..200).map(move |_| {
        let mut report = originals[dice.roll(originals.len())].clone();
        for finding in &mut report.findings {
            dice.damage(finding);
        }
        report
    })
}

#[test]
fn text_keeps_its_columns() {
    let sources = common::sources();
    for (index, report) in damaged_reports().enumerate() {
        let columns = 40 + index % 60;
        let options = Options {
            all: true,
            width: columns,
            ..Options::new(&sources)
        };
        let text = render(&report, Format::Text, &options);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        // Commands are copied, so they are never broken.
        let is_command = |l: &str| l.contains("see it again:") || l.contains("more: ravel explain");
        for line in text.lines().filter(|l| !is_command(l)) {
            assert!(width(line) <= columns, "{} columns at {columns}: {line}", width(line));
        }
    }
}

#[test]
fn sarif_keeps_its_schema() {
    let sources = common::sources();
    let validator = common::sarif_validator();
    for report in damaged_reports() {
        let options = Options {
            all: true,
            ..Options::new(&sources)
        };
        let log: Value = serde_json::from_str(&render(&report, Format::Sarif, &options)).expect("JSON");
        let errors: Vec<String> = validator
            .iter_errors(&log)
            .map(|e| format!("{e} at {}", e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        for result in log["runs"][0]["results"].as_array().expect("results") {
            let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                .as_str()
                .expect("a place");
            assert!(
                !uri.starts_with('/') && !uri.split('/').any(|part| part == ".."),
                "{uri}"
            );
        }
    }
}

#[test]
fn the_other_formats_keep_theirs() {
    let sources = common::sources();
    for report in damaged_reports() {
        let options = Options {
            all: true,
            ..Options::new(&sources)
        };
        let junit = render(&report, Format::Junit, &options);
        roxmltree::Document::parse(&junit).unwrap_or_else(|e| panic!("{e}\n{junit}"));
        let html = render(&report, Format::Html, &options);
        assert_eq!(html.matches("</script>").count(), 2);
        let github = render(&report, Format::Github, &options);
        assert_eq!(github.lines().count(), report.findings.len());
        assert!(github.lines().all(|l| l.starts_with("::")));
        let json = render(&report, Format::Json, &options);
        assert_eq!(ravel_report::json::read(&json).expect("its own form"), report);
    }
}
