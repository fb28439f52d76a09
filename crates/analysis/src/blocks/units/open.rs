//! One unit as blocks see it: its steps, and which of its locations lie open to other threads while it runs.

use ravel_trace::{LocationId, MethodId, Mode, SiteId, ThreadId};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

use crate::exposure::Exposure;
use crate::focus::Shorten;
use crate::locks::{LockTable, LocksetId};
use crate::order::ClockId;
use crate::raw::Point;
use crate::transaction::{Action, HeldLocks, Transaction, TransactionStep};
use crate::units::Owner;

/// The thread, the method and the place that a unit is made of.
pub(super) type Code = (ThreadId, Option<MethodId>, SiteId);

/// A unit of one thread, open or ended.
pub(crate) struct Open {
    pub(in crate::blocks) owner: Owner,
    pub(super) code: Code,
    pub(in crate::blocks) transaction: Transaction,
    /// For each step that is an access, the event.
    pub(in crate::blocks) events: Vec<Option<(Point, ClockId)>>,
    /// An execution of a method that is proven atomic.
    pub(super) proven: bool,
}

impl Open {
    /// The locks held from the first access to the last.
    fn throughout(&self) -> HeldLocks {
        let mut held = self.transaction.entry.clone();
        let (mut first, mut last) = (None, HeldLocks::default());
        for step in &self.transaction.steps {
            match step.action {
                Action::Acquire(lock, mode) => held.acquire(lock, mode, step.origin + 1),
                Action::Release(lock, _) => held.release(lock),
                _ => {
                    first.get_or_insert_with(|| held.clone());
                    last.clone_from(&held);
                }
            }
        }
        first
            .map(|first: HeldLocks| first.still_held(&last))
            .unwrap_or_default()
    }

    /// Whether no lock is given up between the first access and the last.
    fn keeps_all(&self) -> bool {
        let is_access = |step: &TransactionStep| matches!(step.action, Action::Read(_) | Action::Write(_));
        let steps = &self.transaction.steps;
        let first = steps.iter().position(is_access).unwrap_or(0);
        let last = steps.iter().rposition(is_access).unwrap_or(0);
        !steps[first..=last.max(first)]
            .iter()
            .any(|step| matches!(step.action, Action::Release(..)))
    }

    /// Leaves the steps that `shorten` chooses.
    pub(super) fn shorten(&mut self, shorten: Shorten) {
        if let Some(chosen) = shorten(&self.transaction) {
            self.transaction.steps = chosen.iter().map(|at| self.transaction.steps[*at]).collect();
            self.events = chosen.iter().map(|at| self.events[*at]).collect();
        }
    }

    pub(in crate::blocks) fn accesses(&self) -> impl Iterator<Item = (LocationId, bool)> {
        self.transaction.steps.iter().filter_map(|step| match step.action {
            Action::Read(location) => Some((location, false)),
            Action::Write(location) => Some((location, true)),
            _ => None,
        })
    }

    /// The locations that other threads can touch while the unit runs.
    pub(super) fn open(&self, sets: &LockTable, exposure: &Exposure<()>) -> SmallVec<[LocationId; 8]> {
        // If no lock is given up between, all is guarded that is guarded at each access.
        let keeps_all = self.keeps_all();
        if keeps_all && !self.accesses().any(|(location, _)| exposure.is_unguarded(location)) {
            return SmallVec::new();
        }
        let throughout = self.throughout();
        let lets_in = |locks: LocksetId| {
            !sets.locks(locks).iter().any(|theirs| {
                let shared = theirs.mode == Mode::Shared;
                let mut mine = throughout.holds().iter().filter(|mine| mine.lock == theirs.lock);
                mine.any(|mine| !(shared && mine.mode == Mode::Shared))
            })
        };
        let keeps = |lock| throughout.holds().iter().any(|mine| mine.lock == lock);
        let thread = self.transaction.thread;
        let lies_open =
            |(location, writes): &(LocationId, bool)| exposure.is_open(*location, thread, *writes, keeps, lets_in);
        self.accesses()
            .filter(lies_open)
            .map(|(location, _)| location)
            .collect()
    }

    /// Equal for units whose blocks are equal.
    pub(super) fn shape(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (
            self.transaction.thread,
            self.owner.kind,
            self.transaction.entry.without_since(),
        )
            .hash(&mut hasher);
        for (step, event) in self.transaction.steps.iter().zip(&self.events) {
            (step.action, event.map(|(point, clock)| (point.site, clock))).hash(&mut hasher);
        }
        hasher.finish()
    }
}
