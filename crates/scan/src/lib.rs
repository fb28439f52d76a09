//! Static analysis of class files: finds blocks that are meant to be atomic and are not, without running anything.
//!
//! [`scan`](fn@scan) reads jars, directories and JDKs and gives findings. On the way: `lower` turns bytecode into control
//! flow graphs of acquisitions, calls and assignments over locking expressions ([`expr`]); [`callgraph`] links calls to the
//! methods that may answer; [`summary`] carries what methods lock to their callers; [`pattern`] is the dataflow of the
//! LockPattern paper; [`rules`] has one file per rule; [`flow`] follows the values of one method for those that ask;
//! `library` keeps what a JDK locks;
//! [`confirm`] joins suspicions with the findings of a recorded run;
//! [`naming`] names the locks of one.
//!
//! Not a proof in either direction: names stand for objects, paths that cannot happen count, and what reflection, native
//! code and missing classes lock is taken to be nothing (and counted).

mod alias;
pub mod body;
pub mod callgraph;
pub mod confirm;
pub mod containers;
mod cycles;
pub mod expr;
pub mod filter;
pub mod flow;
pub mod hierarchy;
mod library;
mod load;
mod lower;
pub mod naming;
pub mod pattern;
pub mod program;
pub mod report;
pub mod rules;
pub mod solve;
mod stale;
pub mod summary;
pub mod symbols;

pub use load::{Options, Scan, ScanError, Times, analyse, load, scan};
pub use lower::{cfg, source_lines};
