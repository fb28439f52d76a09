//! A search: runs of the program under a scheduler that decides at each point which thread goes on.

use serde::{Deserialize, Serialize};

use crate::Schedule;
use crate::line::Message;

/// How the next thread is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyKind {
    /// Partial-order sampling and priorities in turn: what a search uses unless it is compared.
    Guided,
    /// Partial-order sampling.
    PartialOrder,
    /// Priorities that change at a few points.
    Priorities,
    /// Any thread, with equal chances.
    Random,
}

/// What the agent is to do with the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Search {
    /// How the next thread is chosen, unless a schedule says it.
    pub strategy: StrategyKind,
    /// The seed of the first run; each further run has the next one.
    pub seed: u64,
    /// How many runs of `main` inside this JVM; none: one run, as the JVM's launcher starts it.
    pub inside: Option<Inside>,
    /// The order to follow in place of a strategy.
    pub follow: Option<Schedule>,
    /// Fields (`shop.Stock.items`, `[]` for elements of arrays) whose instances no two threads share: accesses to them need no
    /// decision.
    pub quiet: Vec<String>,
}

impl Message for Search {
    const KIND: &'static str = "search";
}

/// Runs inside one JVM.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Inside {
    /// At most so many.
    pub runs: u32,
    /// At most for so long.
    pub millis: u64,
    /// The search ends after so many runs in a row whose conflicting accesses came in an order that was seen before.
    pub stale: u32,
    /// Whether it ends with the first run that fails.
    pub first: bool,
}

/// What a search tells, line by line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Searched {
    /// A run failed in a way that no earlier one did.
    Failed {
        /// Which run, from 0.
        run: u32,
        /// Its seed.
        seed: u64,
        /// What makes the failure this one: kind and code.
        failure: String,
        /// The order of the run.
        schedule: Schedule,
    },
    /// Runs that did not fail printed something else than others.
    Printed {
        /// How many printed the same.
        times: u32,
        /// The order of the first.
        schedule: Schedule,
    },
    /// The run that was made once is over.
    Alone {
        /// Its order.
        schedule: Schedule,
    },
    /// The runs are over.
    Ended {
        /// How many there were.
        runs: u32,
        /// In how many different orders their conflicting accesses came.
        orders: u32,
        /// How many failed.
        failed: u32,
        /// The time that they took.
        millis: u64,
        /// Why the program cannot be run again inside one JVM, if it cannot.
        obstacle: Option<String>,
    },
}

impl Message for Searched {
    const KIND: &'static str = "searched";
}
