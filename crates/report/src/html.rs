//! The HTML report: one file that opens from disk and asks the network for nothing. The page, its style and its scripts
//! are the files under `html/`; this module puts in the data. Everything that needs judgement (names, sentences, the
//! decisive step) is worked out here and in [`data`], so that the scripts only draw and filter.

mod data;

use ravel_analysis::finding::Report;

use crate::format::{Form, Renderer};
use crate::{Options, layout, text, words};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
/// One script of several files: what all share, source in colour, the threads as code, the recording, the list.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("html/script.js"),
    include_str!("html/code.js"),
    include_str!("html/threads.js"),
    include_str!("html/timeline.js"),
    include_str!("html/list.js"),
    "})();\n"
);
/// How many findings a reader without JavaScript gets as text.
const PLAIN_FINDINGS: usize = 100;
/// Letters of the first warning that the top of the page has room for.
const WARNING_LETTERS: usize = 110;

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
    let rows = summary_rows(report, options);
    let summary: String = rows
        .iter()
        .map(|(name, text)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text)))
        .collect();
    let of = |wanted: &'static str| rows.iter().filter(move |(name, _)| *name == wanted);
    let verdict = of("found").map(|(_, text)| text.as_str()).next().unwrap_or_default();
    let warnings: Vec<&str> = of("warning").map(|(_, text)| text.as_str()).collect();
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
    let data = data::data(report, options).to_string();
    let suspicions = suspicions(report, &plain_options);
    fill(
        PAGE,
        &[
            ("@title@", &escape(&title)),
            ("@style@", STYLE),
            ("@verdict@", &escape(verdict)),
            ("@warnings@", &warnings_shown(&warnings)),
            ("@summary@", &summary),
            ("@plain@", &escape(&plain)),
            ("@suspicions@", &suspicions),
            ("@data@", &escape_json(&data)),
            ("@script@", SCRIPT),
        ],
    )
}

/// The summary in words that fit a page, which has no options.
fn summary_rows(report: &Report, options: &Options<'_>) -> Vec<(&'static str, String)> {
    let in_code = format!("{}; see the end of the page", words::ONLY_IN_CODE);
    let on_page = |text: String| {
        let text = text.replace("see it with --all", "see them with --all");
        text.replace(&format!("{}; see them with --all", words::ONLY_IN_CODE), &in_code)
            .replace("see them with --all", "tick “held back too”")
            .replace(", see --all", "")
            .replace(", shown above because of --all", "")
    };
    let rows = text::summary_rows(report, options).into_iter();
    rows.map(|(name, text)| (name, on_page(text))).collect()
}

/// What a reader must know before believing the page: one warning as it is, several behind the first.
fn warnings_shown(warnings: &[&str]) -> String {
    match warnings {
        [] => String::new(),
        [one] => format!("<p class=\"warnings\">Warning: {}</p>\n", escape(one)),
        [first, ..] => {
            let items: String = warnings.iter().map(|w| format!("<li>{}</li>", escape(w))).collect();
            format!(
                "<details class=\"warnings\"><summary>{}: {}</summary><ul>{items}</ul></details>\n",
                words::count(warnings.len() as u64, "warning"),
                escape(&layout::cut(first, WARNING_LETTERS, "…"))
            )
        }
    }
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

pub(crate) fn escape(text: &str) -> String {
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
            warnings: vec!["first".to_owned(), "<second>".to_owned()],
            ..Report::default()
        };
        let sources = crate::SourceFinder::none();
        let page = render(&report, &Options::new(&sources));
        assert_eq!(page.matches("</script>").count(), 2, "the page's own two scripts");
        assert!(!page.contains("@style@") && !page.contains("@script@") && !page.contains("@verdict@"));
        assert!(page.contains("2 warnings: first") && page.contains("<li>&lt;second&gt;</li>"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!without_namespace.contains(outside), "{outside}");
        }
    }
}
