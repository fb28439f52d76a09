//! What the agent says while it records a JVM that was running before.

use serde::{Deserialize, Serialize};

use crate::line::Message;

/// The names of the files in the folder through which the agent and the command line talk.
pub mod file {
    /// The agent's options: too long for the command that loads it.
    pub const OPTIONS: &str = "options";
    /// What the agent says, an [`AttachNote`](super::AttachNote) a line.
    pub const NOTES: &str = "notes";
    /// Made by the command line: the recording is to end.
    pub const STOP: &str = "stop";
    /// Locked by the command line as long as it lives.
    pub const ALIVE: &str = "alive";
    /// The trace.
    pub const TRACE: &str = "trace.ravel";
}

/// A step of such a recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachNote {
    /// This JVM cannot be recorded, and nothing in it was changed.
    Refused {
        /// Why, in words.
        why: String,
    },
    /// The recording has begun.
    Recording {
        /// Loaded classes that were changed.
        changed: u64,
        /// Loaded classes that the JVM would not change, with its reason.
        refused: Vec<String>,
        /// Why threads may order each other unseen until the end, in words; empty if they do not.
        unseen: Vec<String>,
    },
    /// The recording has ended, and every class is as it was.
    Detached {
        /// Classes that could not be changed back, with the JVM's reason. Their hooks do nothing.
        kept: Vec<String>,
        /// Methods with synchronisation in which threads stayed from before the recording to its end: thread and method.
        stayed: Vec<(String, String)>,
        /// Threads that were recorded.
        threads: u64,
        /// Milliseconds that passed between the first and the last recorded event.
        millis: u64,
        /// Whether threads may have ordered each other unseen to the end.
        unseen: bool,
    },
}

impl Message for AttachNote {
    const KIND: &'static str = "attach";
}
