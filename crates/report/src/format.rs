//! The names of the formats and of the files they go to, as given on the command line. Separate so that the command
//! line and the configuration read them the same way.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A format that a report can be rendered in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// For a terminal.
    Text,
    /// The stable form that other tools read.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for build servers.
    Junit,
    /// One page that opens from disk.
    Html,
    /// Annotations for a GitHub workflow's log.
    Github,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] = [
        Format::Text,
        Format::Json,
        Format::Sarif,
        Format::Junit,
        Format::Html,
        Format::Github,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Junit => "junit",
            Format::Html => "html",
            Format::Github => "github",
        }
    }
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
    #[error("there is no format `{name}`{}; formats are text, json, sarif, junit, html and github", nearest_hint(.name))]
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

fn nearest_hint(name: &str) -> String {
    match nearest(name, Format::ALL.map(Format::name)) {
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
        Format::ALL
            .into_iter()
            .find(|f| f.name() == name)
            .ok_or_else(|| FormatError::Unknown { name: name.to_owned() })
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
        let format = match given.rsplit_once('.').map(|(_, ending)| ending) {
            Some("html" | "htm") => Format::Html,
            Some("sarif") => Format::Sarif,
            Some("json") => Format::Json,
            Some("xml") => Format::Junit,
            Some("txt") => Format::Text,
            _ => {
                return Err(match given.parse::<Format>() {
                    Ok(_) => FormatError::NoFile {
                        given: given.to_owned(),
                    },
                    Err(unknown) => unknown,
                });
            }
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
}
