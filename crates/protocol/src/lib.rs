//! The messages between the agent inside the JVM and the command line that started the JVM.
//!
//! Both sides use the same types, so neither parses the other's English. A message is one line of JSON in a file that
//! the agent's options name. Each line carries the [version](VERSION) of the protocol and the kind of the message
//! ([`line`] reads and writes them).
//!
//! | message | from | to |
//! |---|---|---|
//! | [`Schedule`] | prover | agent: which thread runs up to where, in turn |
//! | [`Watch`] | prover | agent: the accesses and return values to record |
//! | [`goal::Goals`] | prover | agent: which steps of which threads a directed run should bring about |
//! | [`goal::LogLine`] | agent | prover: which of them happened, and how the goals fared |
//! | [`FocusDigest`](focus::FocusDigest) | prover | agent: what a focus plan leaves out of the recording |
//! | [`Search`] | prover | agent: run the program under a scheduler, often or once
//! | [`Searched`] | agent | prover: which of the runs failed, and in which order
//! | [`Status`] | agent | command line: how the JVM ended, and the [`Verdict`] on its schedule |
//! | [`AttachNote`](attach::AttachNote) | agent | command line: how the recording of a running JVM fares |
//! | [`Signature`] | agent | agent and prover: a JVM of the command started |
//!
//! **Architecture Invariant:** depends on no other crate of Ravel, starts no process, and has no words for people: a
//! [`Slip`] is a structure, and the prover makes the sentence. The text form of a schedule is the exception: people
//! edit it.

pub mod attach;
pub mod focus;
pub mod goal;
mod jvm;
pub mod line;
mod schedule;
mod search;
mod status;
mod verdict;
mod watch;

pub use jvm::{JvmName, Signature};
pub use line::{LineError, Message, VERSION};
pub use schedule::{Leave, ParseError, Schedule, Segment, ThreadName};
pub use search::{Inside, Search, Searched, StrategyKind};
pub use status::{EndedBy, Status};
pub use verdict::{Cause, Slip, Verdict, WantedLock};
pub use watch::{ELEMENTS, Watch};
