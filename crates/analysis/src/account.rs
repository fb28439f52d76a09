//! How the attempts at a finding fared in directed runs, site by site: a class that was not instrumented looks exactly like code that
//! no thread came to, unless both are said.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One goal of a finding, over all runs that had it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DirectedAccount {
    /// Id of the finding or suspicion.
    pub finding: String,
    /// Its steps in the wanted order.
    pub steps: Vec<DirectedStep>,
    /// Runs that had the goal.
    pub runs: u64,
    /// The most threads that came to any step in one run.
    pub threads: u64,
    /// How often a thread was held.
    pub holds: u64,
    /// Why these holds ended, each with its number: `reached`, `idle`, `lock`, `cap`, `reset`.
    pub ended: BTreeMap<String, u64>,
    /// Milliseconds of holding.
    pub held_ms: u64,
    /// How often all steps happened in the wanted order.
    pub happened: u64,
}

/// A step of a goal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DirectedStep {
    /// `shop.Stock`
    pub class: String,
    /// `take(I)Z`
    pub method: String,
    /// 0 if unknown.
    pub line: u32,
    /// Whether the instruction had a hook in any run.
    pub instrumented: bool,
    /// How often a thread came there.
    pub visits: u64,
    /// How often one came that could take the step: role, unit and object fitted.
    pub candidates: u64,
}
