//! What a project says about itself in `ravel.toml`: units, atomic sets, what to record, which findings are no bugs, what
//! fails a build. It stands beside the reports because most of it decides what a report shows; the command line hands
//! the rest to the recorder and the analyses.

mod day;
pub mod keys;
mod read;
mod suppress;

use std::path::{Path, PathBuf};

use ravel_analysis::finding::{Evidence, Finding, Rule, UnitKind};
use ravel_analysis::units::{AtomicSetSetting, UnitSettings};

use crate::Output;
pub use day::Day;
pub use read::read;
pub use suppress::{Applied, apply, matches};

/// The name of the configuration in the working folder.
pub const FILE_NAME: &str = "ravel.toml";

/// A whole configuration; the default is an empty file's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The classes to record.
    pub record: Record,
    /// The code that should be atomic.
    pub units: Units,
    /// Fields that are consistent only together.
    pub atomic_sets: Vec<AtomicSet>,
    /// Orders of accesses to report besides the built-in patterns.
    pub patterns: Vec<Pattern>,
    /// The classes that the static analysis assumes to be shared.
    pub scan: Scan,
    /// The report.
    pub report: Reporting,
    /// Findings that are not bugs.
    pub suppressions: Vec<Suppression>,
}

impl Config {
    /// Units and atomic sets as the analyses take them. What the user declares is a unit whichever kinds are chosen.
    pub fn unit_settings(&self) -> UnitSettings {
        let mut settings = UnitSettings {
            units: self.units.declare.clone(),
            not_atomic: self.units.not_atomic.clone(),
            atomic_sets: self
                .atomic_sets
                .iter()
                .map(|set| AtomicSetSetting {
                    name: set.name.clone(),
                    fields: set.fields.clone(),
                    units: set.units.clone(),
                })
                .collect(),
            ..UnitSettings::default()
        };
        if let Some(kinds) = &self.units.kinds {
            settings.kinds = kinds.iter().copied().chain([UnitKind::Declared]).collect();
        }
        settings
    }

    /// The patterns of the user, as the analyses take them.
    pub fn access_patterns(&self) -> Vec<ravel_analysis::patterns::language::Pattern> {
        // Reading the file has checked them.
        let own = |pattern: &Pattern| {
            let parsed = pattern
                .steps
                .parse::<ravel_analysis::patterns::language::Pattern>()
                .ok()?;
            Some(parsed.named(&pattern.name, &pattern.steps))
        };
        self.patterns.iter().filter_map(own).collect()
    }
}

/// `[record]`
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Prefixes of class names; empty means all of the application.
    pub include: Vec<String>,
    /// Prefixes of class names.
    pub exclude: Vec<String>,
}

/// `[units]`
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Kinds of unit that are looked at; none means all.
    pub kinds: Option<Vec<UnitKind>>,
    /// Patterns of methods that must be one step.
    pub declare: Vec<String>,
    /// Patterns of methods and fields that need not be part of one.
    pub not_atomic: Vec<String>,
}

/// `[[atomic-set]]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtomicSet {
    /// Its name.
    pub name: String,
    /// Patterns of full field names.
    pub fields: Vec<String>,
    /// Patterns of methods that must be one step on this set alone.
    pub units: Vec<String>,
}

/// `[[pattern]]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// What to call it.
    pub name: String,
    /// `R1(x) W2(x) W1(x)`; the analysis reads it.
    pub steps: String,
    /// Where it stands, for messages.
    pub line: usize,
}

/// `[scan]`
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scan {
    /// Classes whose objects are not shared although they lock themselves.
    pub unshared: Vec<String>,
    /// Classes on the built-in list whose objects are shared.
    pub shared: Vec<String>,
}

/// `[report]`
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reporting {
    /// The weakest evidence that fails a build.
    pub fail_on: Option<Evidence>,
    /// Folders and archives with sources.
    pub source: Vec<PathBuf>,
    /// The file of accepted findings.
    pub baseline: Option<PathBuf>,
    /// Reports to write.
    pub out: Vec<Output>,
}

/// `[[suppress]]`: a finding is suppressed when everything that is named matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    /// The finding's id.
    pub id: Option<String>,
    /// The rule.
    pub rule: Option<Rule>,
    /// A pattern of class names.
    pub class: Option<String>,
    /// A pattern of variables.
    pub field: Option<String>,
    /// A pattern of methods.
    pub method: Option<String>,
    /// Why it is no bug.
    pub reason: String,
    /// The last day on which it counts.
    pub until: Option<Day>,
    /// Where it stands, for messages.
    pub line: usize,
}

/// One mistake in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Why a configuration cannot be used: all its mistakes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .problems.iter().map(|p| format!("{}:{}:{}: {}", .file, p.line, p.column, p.message)).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError {
    /// The file's name.
    pub file: String,
    /// In order of their lines.
    pub problems: Vec<Problem>,
}

/// Why a configuration could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {file}: {error}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// The file has mistakes.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}

/// The configuration in `explicit`, or in the working folder if there is one there, or the default. Paths in it count from
/// the folder that it is in.
pub fn load(explicit: Option<&Path>, folder: &Path) -> Result<Config, LoadError> {
    let path = explicit.map_or_else(|| folder.join(FILE_NAME), Path::to_owned);
    let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if explicit.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Config::default());
        }
        Err(error) => return Err(LoadError::Unreadable { file: name, error }),
    };
    let mut config = read(&text, &name)?;
    let home = path.parent().unwrap_or(folder);
    for source in &mut config.report.source {
        *source = home.join(&source);
    }
    if let Some(baseline) = &mut config.report.baseline {
        *baseline = home.join(&baseline);
    }
    for file in config.report.out.iter_mut().filter_map(|o| o.file.as_mut()) {
        *file = home.join(&file);
    }
    Ok(config)
}

/// Whether a build fails: by default on anything that the default view shows, with a level on anything found at or above
/// it, shown or held back.
pub fn fails(findings: &[Finding], fail_on: Option<Evidence>) -> bool {
    match fail_on {
        None => findings.iter().any(|f| f.shown),
        Some(level) => findings.iter().any(|f| f.evidence >= level),
    }
}
