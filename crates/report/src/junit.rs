//! JUnit XML, for build servers that show tests: every visible finding is a failed test, with its file and line. A run without one
//! is a suite without tests: Ravel tested nothing that it could call passed. The properties say what was run. Work that was not done to its
//! end is an error of its own.

use std::fmt::Write as _;

use ravel_analysis::finding::{Finding, Report};

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
    let warnings = options.warnings(report);
    let nothing_seen = report.summary.events == 0 && report.summary.classes.instrumented == 0;
    let problem = match (report.complete, nothing_seen) {
        (false, _) => Some(
            warnings
                .first()
                .copied()
                .unwrap_or("the run was interrupted, so the findings are incomplete"),
        ),
        (true, true) => Some("no events were recorded, so the program is not checked"),
        (true, false) => None,
    };
    let errors = usize::from(problem.is_some());
    let tests = findings.len() + errors;
    let failures = findings.len();
    let suspicions = options.visible_suspicions(report);
    let all = tests + suspicions.len();
    let time = time(report);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"ravel\" tests=\"{all}\" failures=\"{failures}\" errors=\"{errors}\"{time}>"
    );
    let _ = writeln!(
        out,
        "  <testsuite name=\"ravel\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"{time}>"
    );
    let properties = [
        ("program", report.program.clone()),
        ("events", report.summary.events.to_string()),
        ("threads", report.summary.threads.to_string()),
    ];
    out.push_str("    <properties>");
    for (name, value) in properties {
        let _ = write!(out, "<property name=\"{name}\" value=\"{}\"/>", escape(&value));
    }
    out.push_str("</properties>\n");
    for finding in findings {
        case(&mut out, finding, options);
    }
    if let Some(problem) = problem {
        let _ = writeln!(
            out,
            "    <testcase classname=\"ravel\" name=\"the run is complete\">\n      <error message=\"{}\"/>\n    </testcase>",
            escape(problem)
        );
    }
    if !warnings.is_empty() {
        let _ = writeln!(out, "    <system-err>{}</system-err>", escape(&warnings.join("\n")));
    }
    out.push_str("  </testsuite>\n");
    if !suspicions.is_empty() {
        suite_of_suspicions(&mut out, suspicions, options);
    }
    out.push_str("</testsuites>\n");
    out
}

/// What only the code says is a suite of its own, of tests that were not made.
fn suite_of_suspicions(out: &mut String, suspicions: &[Finding], options: &Options<'_>) {
    let (name, count) = (words::ONLY_IN_CODE, suspicions.len());
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"0\" errors=\"0\" skipped=\"{count}\">"
    );
    for finding in suspicions {
        let _ = writeln!(
            out,
            "    <testcase classname=\"{}\" name=\"{}\"{}><skipped message=\"{name}: {}\"/></testcase>",
            escape(class(finding)),
            escape(&title(finding)),
            place(finding, options),
            escape(&finding.message),
        );
    }
    out.push_str("  </testsuite>\n");
}

/// The class of the test that it was found in, for build servers that show the tests of a class together; else that of the code.
fn class(finding: &Finding) -> &str {
    if let Some((class, _)) = test(finding) {
        return class;
    }
    words::main_place(finding).map_or("ravel", |main| main.frame.class)
}

/// How long the work took, in seconds; empty if the report does not say.
fn time(report: &Report) -> String {
    let Some(times) = &report.summary.times else {
        return String::new();
    };
    let all = times.record + times.search + times.schedule + times.replay + times.directed;
    format!(" time=\"{}.{:03}\"", all / 1000, all % 1000)
}

/// File and line, as far as they are known: the path of the source, or the name of the file alone if the source was not found.
fn place(finding: &Finding, options: &Options<'_>) -> String {
    let Some(frame) = words::main_place(finding).map(|main| main.frame) else {
        return String::new();
    };
    let path = options.sources.known_path(frame.class, frame.file);
    let file = path.or(Some(frame.file.to_owned()).filter(|file| !file.is_empty()));
    let file = file.map(|file| format!(" file=\"{}\"", escape(&file)));
    let line = (frame.line > 0).then(|| format!(" line=\"{}\"", frame.line));
    format!("{}{}", file.unwrap_or_default(), line.unwrap_or_default())
}

fn title(finding: &Finding) -> String {
    let title = format!(
        "{} {} {}",
        words::rule(finding.rule),
        words::variables(finding),
        finding.id
    );
    match test(finding) {
        Some((_, method)) => format!("{method}: {title}"),
        None => title,
    }
}

/// Class and method of the first test that it was found in; none if the test runner names its tests in another way.
fn test(finding: &Finding) -> Option<(&str, &str)> {
    let name = finding.tests.first()?;
    // The words of an invocation follow the method.
    let end = name.find(' ').unwrap_or(name.len());
    let dot = name[..end].rfind('.')?;
    Some((&name[..dot], &name[dot + 1..]))
}

fn case(out: &mut String, finding: &Finding, options: &Options<'_>) {
    let plain = Options {
        color: false,
        ..Options::new(options.sources)
    };
    let _ = writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\"{}>\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
        escape(class(finding)),
        escape(&title(finding)),
        place(finding, options),
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
