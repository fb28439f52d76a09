//! The baseline: findings that a project has accepted for now, so that only new ones fail its build. A file of its own
//! and not a list of suppressions, because it is written by the tool and says nothing about why.

use std::collections::BTreeMap;

use ravel_analysis::finding::{Evidence, Finding, Report};
use serde::{Deserialize, Serialize};

use crate::words;

/// The file that is written when none is named.
pub const FILE_NAME: &str = "ravel-baseline.json";
/// The newest version that this build reads and writes.
const VERSION: u32 = 1;

/// Accepted findings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Baseline {
    /// Version of this form: 1.
    pub version: u32,
    /// In order of their ids, so that the file changes little.
    pub accepted: Vec<AcceptedFinding>,
}

/// One accepted finding. The id and the evidence count; the rest tells a reader which one it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AcceptedFinding {
    /// The finding's fingerprint.
    pub id: String,
    /// How far it had got when it was accepted: with stronger evidence it is reported again. Files of an older Ravel do not
    /// say, and accept it whatever its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Its rule.
    #[serde(default)]
    pub rule: String,
    /// Where it was.
    #[serde(default)]
    pub place: String,
    /// What it said.
    #[serde(default)]
    pub message: String,
}

/// Why a file is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// No JSON, or JSON of another shape.
    #[error("not a Ravel baseline: {0}")]
    Shape(serde_json::Error),
    /// Written by a newer Ravel.
    #[error("this baseline has version {0}; this Ravel reads versions up to {VERSION}: use a newer Ravel")]
    Newer(u32),
}

// Not `#[from]`: the message tells all that the cause would, and a chain of causes would say it twice.
impl From<serde_json::Error> for BaselineError {
    fn from(error: serde_json::Error) -> BaselineError {
        BaselineError::Shape(error)
    }
}

/// What accepting a report changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// Findings that are accepted from now on.
    pub added: usize,
    /// Entries that stay.
    pub kept: usize,
    /// How many of those are accepted with stronger evidence from now on.
    pub raised: usize,
    /// Entries that the report no longer has.
    pub stale: usize,
    /// How many of those were dropped.
    pub dropped: usize,
}

impl Default for Baseline {
    fn default() -> Baseline {
        Baseline {
            version: VERSION,
            accepted: Vec::new(),
        }
    }
}

impl Baseline {
    /// A baseline from its file.
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        let baseline: Baseline = serde_json::from_str(text)?;
        if baseline.version > VERSION {
            return Err(BaselineError::Newer(baseline.version));
        }
        Ok(baseline)
    }

    /// The file.
    pub fn render(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Whether a finding was accepted, with this evidence or stronger.
    pub fn accepts(&self, finding: &Finding) -> bool {
        let known = |e: &AcceptedFinding| e.evidence.is_none_or(|accepted| finding.evidence <= accepted);
        self.accepted.iter().any(|e| e.id == finding.id && known(e))
    }

    /// With which evidence a finding was accepted that has got further since.
    pub fn outgrown(&self, finding: &Finding) -> Option<Evidence> {
        let entry = self.accepted.iter().find(|e| e.id == finding.id)?;
        entry.evidence.filter(|accepted| finding.evidence > *accepted)
    }

    /// The ids of entries that the report no longer has.
    pub fn stale(&self, report: &Report) -> Vec<String> {
        let all = || report.findings.iter().chain(&report.suspicions);
        let gone = |e: &&AcceptedFinding| !all().any(|f| f.id == e.id);
        self.accepted.iter().filter(gone).map(|e| e.id.clone()).collect()
    }

    /// Accepts what a report shows, and nothing that it holds back: a finding that is only predicted today may be proven
    /// harmful after the next change, and a user who has not seen it has not accepted it.
    pub fn accept(&mut self, report: &Report, prune: bool) -> Change {
        let stale = self.stale(report);
        let mut change = Change {
            stale: stale.len(),
            ..Change::default()
        };
        if prune {
            self.accepted.retain(|e| !stale.contains(&e.id));
            change.dropped = stale.len();
        }
        change.kept = self.accepted.len();
        let mut entries: BTreeMap<String, AcceptedFinding> = std::mem::take(&mut self.accepted)
            .into_iter()
            .map(|e| (e.id.clone(), e))
            .collect();
        for finding in report.findings.iter().filter(|finding| finding.shown) {
            match entries.get(&finding.id) {
                Some(known) if known.evidence.is_none_or(|accepted| finding.evidence <= accepted) => continue,
                Some(_) => change.raised += 1,
                None => change.added += 1,
            }
            entries.insert(finding.id.clone(), entry(finding));
        }
        self.accepted = entries.into_values().collect();
        change
    }
}

fn entry(finding: &Finding) -> AcceptedFinding {
    AcceptedFinding {
        id: finding.id.clone(),
        evidence: Some(finding.evidence),
        rule: words::rule(finding.rule).to_owned(),
        place: words::main_place(finding).map(|main| main.place()).unwrap_or_default(),
        message: finding.message.clone(),
    }
}
