//! Findings to terminal, HTML, SARIF, JSON, JUnit and GitHub annotations; and what a project says about its findings:
//! configuration, suppressions, baseline, the pages that explain the rules.
//!
//! The entry point is [`render`]: a report, a [`Format`] and [`Options`] to text. No format writes anything anywhere,
//! and none knows the others; what they share (names for people, layout, sources) is in modules of its own.

pub mod baseline;
pub mod config;
pub mod diff;
pub mod edit;
pub mod format;
pub mod github;
pub mod history;
pub mod html;
pub mod json;
pub mod junit;
pub mod layout;
mod mark;
pub mod rules;
pub mod sarif;
pub mod source;
pub mod text;
pub mod words;

use ravel_analysis::finding::{Finding, Report};

pub use format::{Format, Output};
pub use source::SourceFinder;

/// What a report is rendered with.
#[derive(Debug)]
pub struct Options<'a> {
    /// Show what the default view holds back as well.
    pub all: bool,
    /// Show each finding whole in the terminal format; otherwise each fits a screen of 80 by 24.
    pub verbose: bool,
    /// Colours in the terminal format; the caller knows whether it writes to a terminal, see [`text::colors_wanted`].
    pub color: bool,
    /// Draw with Unicode; plain ASCII otherwise.
    pub unicode: bool,
    /// Columns of the terminal format.
    pub width: usize,
    /// Where source lines come from.
    pub sources: &'a SourceFinder,
    /// What the caller knows beyond the findings.
    pub notes: Notes,
}

impl<'a> Options<'a> {
    /// The default view: what is shown, no colours, Unicode, 80 columns.
    pub fn new(sources: &'a SourceFinder) -> Options<'a> {
        Options {
            all: false,
            verbose: false,
            color: false,
            unicode: true,
            width: 80,
            sources,
            notes: Notes::default(),
        }
    }

    /// What the user should know: what the caller says, and what the report has of an earlier run.
    pub fn warnings<'r>(&'r self, report: &'r Report) -> Vec<&'r str> {
        let mut all: Vec<&str> = Vec::new();
        for warning in report.warnings.iter().chain(&self.notes.warnings) {
            if !all.contains(&warning.as_str()) {
                all.push(warning);
            }
        }
        all
    }

    /// The findings that this view has, worst first as in the report.
    pub fn visible<'r>(&self, report: &'r Report) -> Vec<&'r Finding> {
        report.findings.iter().filter(|f| self.all || f.shown).collect()
    }

    /// What the code alone makes suspicious and no run showed: apart from the findings, and only for those who want all.
    pub fn visible_suspicions<'r>(&self, report: &'r Report) -> &'r [Finding] {
        if self.all { &report.suspicions } else { &[] }
    }
}

/// Facts for the summary that the findings do not carry. Every one may be left out.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// How recording went: `1.2 s, 3 MB in t.ravel`.
    pub recorded: Option<String>,
    /// How analysis went: `6 analyses in 0.4 s`.
    pub analysed: Option<String>,
    /// How replay went: `9 forced, 5 happened, 4 could not be forced`.
    pub forced: Option<String>,
    /// What cost most likely bugs their proof, and the option that would help: `2 of them: the time was used up; a
    /// larger --budget helps`.
    pub untested: Option<String>,
    /// How many findings `ravel.toml` suppresses.
    pub suppressed: usize,
    /// How many findings the baseline accepts.
    pub baselined: usize,
    /// What the user should know: stale baseline entries, suppressions that ended, classes that failed.
    pub warnings: Vec<String>,
}

/// The report in one format.
pub fn render(report: &Report, format: Format, options: &Options<'_>) -> String {
    format.renderer().render(report, options)
}
