//! How one JVM ended, as its agent reports it when it closes the trace.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::line::Message;
use crate::verdict::Verdict;

/// The report of one JVM.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Where its trace is.
    pub trace: PathBuf,
    /// The size of the trace.
    pub bytes: u64,
    /// Why the trace is not whole, if it is not.
    pub error: Option<String>,
    /// How far the run followed its schedule; none if it had none.
    pub verdict: Option<Verdict>,
    /// Why the agent ended the JVM, if it did.
    pub ended_by: Option<EndedBy>,
}

impl Message for Status {
    const KIND: &'static str = "status";
}

/// Why an agent ends the JVM of a forced run that would not end by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Threads wait for each other's locks.
    Deadlock,
    /// No thread can move, or the run took too long.
    Hang,
    /// Only idle workers of pools are left, without a time limit, and no thread that could submit a task.
    Idle,
}

impl EndedBy {
    /// The exit code of the JVM, for people and scripts that see the process alone. A program of which only idle workers are left has done its work; if
    /// its main thread has died, the code is 1, as without Ravel.
    pub fn exit_code(self) -> i32 {
        match self {
            EndedBy::Deadlock => 97,
            EndedBy::Hang => 98,
            EndedBy::Idle => 0,
        }
    }
}
