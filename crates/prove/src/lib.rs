//! From a command to evidence: runs of the program (recorded, forced, in orders that were not recorded), their outcomes,
//! and the judgement of findings by them.
//!
//! [`recording`] runs a command with the agent and gathers its traces; [`job`] is the whole job of `ravel run` on them;
//! [`proof`] raises the evidence of findings by runs of the program, which it sees through [`runner::Runner`] alone, so
//! that its judgement can be tested without a JVM. [`jvm`] is the runner that starts JVMs.
//!
//! Nothing here prints: what the user should see while a job goes on goes to an [`observer::Observer`].

pub mod agent_library;
pub mod analysing;
pub mod attach;
pub mod claim;
pub mod directed;
pub mod failures;
pub mod family;
mod files;
pub mod input;
pub mod interrupt;
pub mod java;
pub mod job;
pub mod jvm;
mod launch;
pub mod observer;
mod obstacle;
pub mod plans;
pub mod proof;
pub mod recording;
pub mod runner;
pub mod scratch;
pub mod shares;
pub mod suspects;
pub mod words;
