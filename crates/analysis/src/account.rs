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
    /// Why these holds ended, each with its number.
    pub ended: BTreeMap<HoldEnd, u64>,
    /// Milliseconds of holding.
    pub held_ms: u64,
    /// How often all steps happened in the wanted order.
    pub happened: u64,
}

/// Why a hold ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldEnd {
    /// The other threads took their steps.
    Reached,
    /// All other threads were blocked or done.
    Idle,
    /// A thread needed a lock of the held one.
    Lock,
    /// The longest hold was over.
    Cap,
    /// The goal began anew or was given up.
    Reset,
}

impl HoldEnd {
    /// All of them, in the order of the report.
    pub const ALL: [HoldEnd; 5] = [
        HoldEnd::Reached,
        HoldEnd::Idle,
        HoldEnd::Lock,
        HoldEnd::Cap,
        HoldEnd::Reset,
    ];

    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            HoldEnd::Reached => "the partner came",
            HoldEnd::Idle => "no other thread could run",
            HoldEnd::Lock => "a thread needed a lock of the held thread",
            HoldEnd::Cap => "the hold timed out",
            HoldEnd::Reset => "the held thread had done its part",
        }
    }
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
