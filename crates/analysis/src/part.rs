//! What a report says of the work that it is a part of, so that reports of several machines can be joined: which findings the work has,
//! and which of them were tried.
//!
//! Joining parts is the union of what they say: it does not matter in which order, in which groups and how often they are joined.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::finding::{Report, Summary, Times};

/// The share of a report in one piece of work: a proof plan, or a job that one machine did alone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// The name of the work: the same for all machines that share a proof plan.
    pub key: String,
    /// The recorded command line.
    pub program: String,
    /// What was analysed, without times.
    pub summary: Summary,
    /// Whether what is to be tried is known in full: false if a trace could not be read to its end, or if a job without a plan was
    /// interrupted.
    pub whole: bool,
    /// The ids of everything that is to be tried; empty for a job without a plan.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub planned: BTreeSet<String>,
    /// The ids of what was tried.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tried: BTreeSet<String>,
    /// The times of each shard, by its name: `2/3`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shards: BTreeMap<String, Times>,
    /// For each finding, by id, the types of the fields that its steps access, which decide whether two findings are one bug.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, Vec<String>>,
}

impl Part {
    /// What was planned and has not been tried.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.planned.difference(&self.tried).map(String::as_str)
    }

    /// Whether everything that was planned has been tried.
    pub fn is_complete(&self) -> bool {
        self.whole && self.missing().next().is_none()
    }

    /// Adds what another report says of the same work.
    pub fn join(&mut self, other: Part) {
        self.whole &= other.whole;
        self.planned.extend(other.planned);
        self.tried.extend(other.tried);
        for (shard, times) in other.shards {
            let known = self.shards.entry(shard).or_default();
            *known = (*known).max(times);
        }
        for (id, types) in other.types {
            let known = self.types.entry(id).or_default();
            if *known < types {
                *known = types;
            }
        }
    }

    /// Keeps the types of the fields of a report's steps.
    pub fn note_types(&mut self, report: &Report) {
        for finding in &report.findings {
            if finding.steps.iter().any(|step| !step.descriptor.is_empty()) {
                let types = finding.steps.iter().map(|step| step.descriptor.clone());
                self.types.insert(finding.id.clone(), types.collect());
            }
        }
    }

    /// Gives the steps of a report the types of their fields, which its JSON does not have.
    pub fn restore_types(&self, report: &mut Report) {
        for finding in &mut report.findings {
            let Some(types) = self.types.get(&finding.id) else {
                continue;
            };
            for (step, descriptor) in finding.steps.iter_mut().zip(types) {
                step.descriptor.clone_from(descriptor);
            }
        }
    }
}
