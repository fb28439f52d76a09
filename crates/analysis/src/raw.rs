//! What an analysis hands over: one observation, not yet merged with those of others into a finding.

use crate::finding::{Evidence, Rule};
use crate::locks::LocksetId;
use crate::stacks::StackId;
use crate::units::Owner;
use ravel_trace::{LocationId, LockId, SiteId, ThreadId};

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes in one.
    Update,
    /// Takes a lock.
    Acquire,
    /// Gives a lock up.
    Release,
}

impl StepKind {
    /// Whether it changes a location.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, StepKind::Write | StepKind::Update)
    }

    /// Whether it looks at a location.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(self, StepKind::Read | StepKind::Update)
    }
}

/// An event with what the context knew of it: small enough to keep many of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Number of the event in the trace.
    pub index: u64,
    /// The thread's position.
    pub position: u32,
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// The locks held.
    pub locks: LocksetId,
    /// The calls that led there.
    pub stack: StackId,
    /// What.
    pub kind: StepKind,
}

/// One step of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawStep {
    /// The event.
    pub point: Point,
    /// The cell, for accesses.
    pub location: Option<LocationId>,
    /// The lock, for lock operations.
    pub lock: Option<LockId>,
    /// The unit it belongs to, if any.
    pub owner: Option<Owner>,
}

/// One observation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawReport {
    /// Name of the analysis.
    pub analysis: &'static str,
    /// The kind of bug.
    pub rule: Rule,
    /// How strong.
    pub evidence: Evidence,
    /// `R W' W`, or empty.
    pub pattern: String,
    /// The interleaving, in the order that shows the bug.
    pub steps: Vec<RawStep>,
    /// Whether the trace itself has the steps in this order.
    pub observed: bool,
}
