//! JUnit XML, for build servers that show tests: every visible finding is a failed test, every rule that found nothing
//! a passed one, so that a clean run is not an empty suite. Work that was not done to its end is an error of its own.

use std::fmt::Write as _;

use ravel_analysis::finding::{Finding, Report, Rule};

use crate::format::{Form, Renderer};
use crate::{Options, text, words};

/// The format.
pub const FORMAT: Renderer = Renderer {
    name: "junit",
    endings: &["xml"],
    form: Form::Told,
    render,
};

/// The suite.
pub fn render(report: &Report, options: &Options<'_>) -> String {
    let findings = options.visible(report);
    let clean: Vec<_> = Rule::ALL
        .iter()
        .copied()
        .filter(|&r| findings.iter().all(|f| f.rule != r))
        .collect();
    let warnings = options.warnings(report);
    let errors = usize::from(!report.complete);
    let tests = findings.len() + clean.len() + errors;
    let failures = findings.len();
    let suspicions = options.visible_suspicions(report);
    let all = tests + suspicions.len();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"ravel\" tests=\"{all}\" failures=\"{failures}\" errors=\"{errors}\">"
    );
    let _ = writeln!(
        out,
        "  <testsuite name=\"ravel\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"0\">"
    );
    let _ = writeln!(
        out,
        "    <properties><property name=\"program\" value=\"{}\"/></properties>",
        escape(&report.program)
    );
    for finding in findings {
        case(&mut out, finding, options);
    }
    for rule in clean {
        let _ = writeln!(
            out,
            "    <testcase classname=\"ravel.{0}\" name=\"no {0} is shown\" time=\"0\"/>",
            words::rule(rule)
        );
    }
    if !report.complete {
        let _ = writeln!(
            out,
            "    <testcase classname=\"ravel\" name=\"the work was done to its end\" time=\"0\">\n      <error message=\"{}\"/>\n    </testcase>",
            escape(warnings.first().copied().unwrap_or("the work was not done to its end"))
        );
    }
    if !warnings.is_empty() {
        let _ = writeln!(out, "    <system-err>{}</system-err>", escape(&warnings.join("\n")));
    }
    out.push_str("  </testsuite>\n");
    if !suspicions.is_empty() {
        suite_of_suspicions(&mut out, suspicions);
    }
    out.push_str("</testsuites>\n");
    out
}

/// What only the code says is a suite of its own, of tests that were not made.
fn suite_of_suspicions(out: &mut String, suspicions: &[Finding]) {
    let (name, count) = (words::ONLY_IN_CODE, suspicions.len());
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"0\" errors=\"0\" skipped=\"{count}\" time=\"0\">"
    );
    for finding in suspicions {
        let _ = writeln!(
            out,
            "    <testcase classname=\"{}\" name=\"{}\" time=\"0\"><skipped message=\"{name}: {}\"/></testcase>",
            escape(class(finding)),
            escape(&title(finding)),
            escape(&finding.message),
        );
    }
    out.push_str("  </testsuite>\n");
}

fn class(finding: &Finding) -> &str {
    words::main_place(finding).map_or("ravel", |s| s.class.as_str())
}

fn title(finding: &Finding) -> String {
    format!(
        "{} {} {}",
        words::rule(finding.rule),
        words::variables(finding),
        finding.id
    )
}

fn case(out: &mut String, finding: &Finding, options: &Options<'_>) {
    let plain = Options {
        color: false,
        ..Options::new(options.sources)
    };
    let _ = writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
        escape(class(finding)),
        escape(&title(finding)),
        words::evidence(finding.evidence),
        escape(&finding.message),
        escape(&text::render_finding(finding, &plain)),
    );
}

/// Text for XML, in content and attributes; characters that XML 1.0 cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
