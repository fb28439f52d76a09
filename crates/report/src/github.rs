//! GitHub annotations: one workflow command per finding, which the runner shows beside the line in a pull request, and
//! one per warning.

use std::fmt::Write as _;

use ravel_analysis::finding::{Evidence, Finding, Report};

use crate::format::{Form, Renderer};
use crate::{Options, words};

/// The format.
pub const FORMAT: Renderer = Renderer {
    name: "github",
    endings: &[],
    form: Form::Told,
    render,
};

/// One line per visible finding and per warning.
pub fn render(report: &Report, options: &Options<'_>) -> String {
    let mut out = String::new();
    for finding in options.visible(report) {
        annotate(&mut out, finding, "", options);
    }
    for finding in options.visible_suspicions(report) {
        annotate(&mut out, finding, words::ONLY_IN_CODE, options);
    }
    for warning in options.warnings(report) {
        let level = if report.complete { "notice" } else { "warning" };
        let _ = writeln!(out, "::{level} title=ravel::{}", escape_data(warning));
    }
    out
}

fn annotate(out: &mut String, finding: &Finding, remark: &str, options: &Options<'_>) {
    let level = match finding.evidence {
        Evidence::Harmful | Evidence::Confirmed => "error",
        Evidence::Witnessed | Evidence::Predicted => "warning",
        Evidence::Suspected => "notice",
    };
    let mut properties = Vec::new();
    let place = words::main_place(finding);
    if let Some(frame) = place.map(|main| main.frame)
        // GitHub drops a note on a file that the repository does not have. Without a path it is in the log.
        && let Some(path) = options.sources.known_path(frame.class, frame.file)
    {
        properties.push(format!("file={}", escape_property(&path)));
        if frame.line > 0 {
            properties.push(format!("line={}", frame.line));
        }
    }
    let title = format!(
        "{} ({}) {}",
        words::rule(finding.rule),
        words::evidence(finding.evidence),
        finding.id
    );
    properties.push(format!("title={}", escape_property(&title)));
    let mut message = finding.message.clone();
    if !remark.is_empty() {
        let _ = write!(message, "\nNot proven: {remark}");
    }
    if !properties.iter().any(|property| property.starts_with("file="))
        && let Some(main) = place
    {
        let at = match main.is_call {
            true => format!(" at {}", main.frame.short()),
            false => words::at(main.step),
        };
        let _ = write!(message, "\nWhere:{at}");
    }
    if let Some(outcome) = &finding.outcome {
        let _ = write!(message, "\n{}: {}", words::run(finding), words::outcome(outcome));
        for (name, text) in words::outcome_details(outcome) {
            let _ = write!(message, "\n{name}: {text}");
        }
    }
    if !finding.help.is_empty() {
        let _ = write!(message, "\nFix: {}", finding.help);
    }
    if !finding.also.is_empty() {
        let _ = write!(message, "\nAlso seen as: {}", words::also(finding));
    }
    if !finding.replay.is_empty() {
        let _ = write!(message, "\nSee it again: {}", finding.replay);
    }
    let _ = writeln!(out, "::{level} {}::{}", properties.join(","), escape_data(&message));
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes_its_field() {
        assert_eq!(escape_property("a,b:c\n100%"), "a%2Cb%3Ac%0A100%25");
        assert_eq!(escape_data("a::b\r\n"), "a::b%0D%0A");
    }
}
