//! The formats, and the files they go to, as given on the command line. Separate so that the command line and the
//! configuration read them the same way.
//!
//! To add a format: a file with its [`Renderer`], and a line in the table below.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use ravel_analysis::describe::listed;
use ravel_analysis::finding::Report;

use crate::{Options, github, html, json, junit, sarif, text, words};

/// All that Ravel knows of a format.
#[derive(Clone, Copy, Debug)]
pub struct Renderer {
    /// The name on the command line.
    pub name: &'static str,
    /// The endings of file names that mean this format.
    pub endings: &'static [&'static str],
    /// Which findings it takes.
    pub form: Form,
    /// A report as text.
    pub render: fn(&Report, &Options<'_>) -> String,
}

/// The form in which a format takes its findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As they were found, for other programs.
    Recorded,
    /// As people read them, with numbers for the locks of one class.
    Told,
}

impl Renderer {
    /// The report as text.
    pub fn render(&self, report: &Report, options: &Options<'_>) -> String {
        match self.form {
            Form::Recorded => (self.render)(report, options),
            Form::Told => {
                let told = Report {
                    findings: report.findings.iter().map(words::told).collect(),
                    suspicions: report.suspicions.iter().map(words::told).collect(),
                    version: report.version,
                    program: report.program.clone(),
                    complete: report.complete,
                    summary: report.summary,
                    warnings: report.warnings.clone(),
                    recordings: report.recordings.clone(),
                    directed: report.directed.clone(),
                    parts: report.parts.clone(),
                };
                (self.render)(&told, options)
            }
        }
    }
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident => $renderer:path;)*) => {
        /// A format that a report can be rendered in.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Format {
            $($(#[$doc])* $name,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: &[Format] = &[$(Format::$name),*];

            /// How it is rendered.
            pub fn renderer(self) -> Renderer {
                match self {
                    $(Format::$name => $renderer,)*
                }
            }

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                self.renderer().name
            }

            /// The names of all formats.
            pub fn names() -> Vec<&'static str> {
                Format::ALL.iter().map(|format| format.name()).collect()
            }

            /// The format with this name.
            pub fn named(name: &str) -> Option<Format> {
                Format::ALL.iter().copied().find(|format| format.name() == name)
            }

            /// The format that the ending of a file name means.
            pub fn of_ending(ending: &str) -> Option<Format> {
                let means = |format: &Format| format.renderer().endings.contains(&ending);
                Format::ALL.iter().copied().find(means)
            }
        }
    };
}

formats! {
    /// For a terminal.
    Text => text::FORMAT;
    /// The stable form that other tools read.
    Json => json::FORMAT;
    /// SARIF 2.1.0, for code scanning.
    Sarif => sarif::FORMAT;
    /// JUnit XML, for build servers.
    Junit => junit::FORMAT;
    /// One page that opens from disk.
    Html => html::FORMAT;
    /// Annotations for a GitHub workflow's log.
    Github => github::FORMAT;
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A format or output that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatError {
    /// No format has this name.
    #[error("no format `{name}`{}; the formats are {}", nearest_hint(.name), format_names())]
    Unknown {
        /// What was given.
        name: String,
    },
    /// `--out` without a file.
    #[error("`{given}` names no file; write it as FORMAT=FILE, for example html=report.html")]
    NoFile {
        /// What was given.
        given: String,
    },
}

fn format_names() -> String {
    listed(&Format::names().into_iter().map(str::to_owned).collect::<Vec<_>>())
}

fn nearest_hint(name: &str) -> String {
    match nearest(name, Format::names()) {
        Some(nearest) => format!(" (did you mean `{nearest}`?)"),
        None => String::new(),
    }
}

/// The known name nearest to a mistyped one, if any is near enough to be meant.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name.to_lowercase(), candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1) || candidate.starts_with(name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Format, FormatError> {
        Format::named(name).ok_or_else(|| FormatError::Unknown { name: name.to_owned() })
    }
}

/// One `--out FORMAT=FILE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// In which format.
    pub format: Format,
    /// To which file; none means standard output (`-`).
    pub file: Option<PathBuf>,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}={}", self.format, file.display()),
            None => write!(f, "{}=-", self.format),
        }
    }
}

impl FromStr for Output {
    type Err = FormatError;

    /// `html=report.html`, `sarif=-`, or a file alone whose ending tells the format: `report.html`.
    fn from_str(given: &str) -> Result<Output, FormatError> {
        if let Some((format, file)) = given.split_once('=') {
            if file.is_empty() {
                return Err(FormatError::NoFile {
                    given: given.to_owned(),
                });
            }
            let file = (file != "-").then(|| PathBuf::from(file));
            return Ok(Output {
                format: format.parse()?,
                file,
            });
        }
        let ending = given.rsplit_once('.').map(|(_, ending)| ending);
        let Some(format) = ending.and_then(Format::of_ending) else {
            return Err(match given.parse::<Format>() {
                Ok(_) => FormatError::NoFile {
                    given: given.to_owned(),
                },
                Err(unknown) => unknown,
            });
        };
        Ok(Output {
            format,
            file: Some(PathBuf::from(given)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read() {
        let html: Output = "html=a=b.html".parse().expect("valid");
        assert_eq!(
            html,
            Output {
                format: Format::Html,
                file: Some("a=b.html".into())
            }
        );
        let sarif: Output = "sarif=-".parse().expect("valid");
        assert_eq!(sarif.file, None);
        let by_ending: Output = "out/report.sarif".parse().expect("valid");
        assert_eq!(by_ending.format, Format::Sarif);
    }

    #[test]
    fn mistakes_name_the_nearest() {
        let error = "sarfi=x".parse::<Output>().expect_err("unknown");
        assert!(error.to_string().contains("did you mean `sarif`?"), "{error}");
        let error = "html".parse::<Output>().expect_err("no file");
        assert!(error.to_string().contains("names no file"), "{error}");
        let error = "html=".parse::<Output>().expect_err("no file");
        assert!(error.to_string().contains("names no file"), "{error}");
        let error = "pdf=x".parse::<Output>().expect_err("unknown");
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    #[test]
    fn names_and_endings_are_told_apart() {
        for (at, format) in Format::ALL.iter().enumerate() {
            assert_eq!(Format::named(format.name()), Some(*format));
            for ending in format.renderer().endings {
                assert_eq!(Format::of_ending(ending), Some(Format::ALL[at]), "{ending}");
            }
        }
    }

    /// A format is one file and one line: this module is the file.
    mod ids {
        use super::*;

        pub const FORMAT: Renderer = Renderer {
            name: "ids",
            endings: &["ids"],
            form: Form::Told,
            render: |report, options| {
                let ids = options.visible(report).into_iter().map(|finding| finding.id.as_str());
                ids.collect::<Vec<_>>().join("\n")
            },
        };
    }

    #[test]
    fn a_format_is_one_line_of_the_table() {
        mod extended {
            use super::*;
            formats! {
                /// For a terminal.
                Text => text::FORMAT;
                /// The line.
                Ids => ids::FORMAT;
            }
        }
        assert_eq!(extended::Format::names(), ["text", "ids"]);
        let ids = extended::Format::named("ids").expect("a format");
        assert_eq!(extended::Format::of_ending("ids"), Some(ids));
        let mixed = include_str!("../tests/reports/mixed.json");
        let report = json::read(mixed).expect("a report");
        let sources = crate::SourceFinder::none();
        let options = Options {
            all: true,
            ..Options::new(&sources)
        };
        let rendered = ids.renderer().render(&report, &options);
        let known: Vec<&str> = report.findings.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(rendered.lines().collect::<Vec<_>>(), known);
    }
}
