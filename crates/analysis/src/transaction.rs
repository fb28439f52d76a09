//! Transactions as the papers write them: the steps of one thread between two points, with the locks it holds.
//!
//! Blocks, lock-order cycles and the oracles of the tests work on this small model. Tests write it as text, so that they try each
//! algorithm alone on a line such as `t1: acq(m) r(x) rel(m) w(x)`.

use ravel_trace::{LocationId, LockId, Mode, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What one step does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Reads a location.
    Read(LocationId),
    /// Writes a location.
    Write(LocationId),
    /// Takes a lock.
    Acquire(LockId, Mode),
    /// Gives a lock up.
    Release(LockId, Mode),
    /// Starts a thread.
    Fork(ThreadId),
    /// Sees the end of a thread.
    Join(ThreadId),
}

/// One step of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransactionStep {
    /// What it does.
    pub action: Action,
    /// Which event of the trace it is. The read and the write of one indivisible update share it, and nothing can
    /// come between two steps that do.
    pub origin: u64,
}

/// Whether an access looks or changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Looks.
    Read,
    /// Changes.
    Write,
}

/// The locks held at a point, each with its mode and the step that took it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct HeldLocks(SmallVec<[LockHold; 4]>);

/// One lock held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockHold {
    /// The lock.
    pub lock: LockId,
    /// Alone or shared.
    pub mode: Mode,
    /// Tells one acquisition of the lock by this thread from the next.
    pub since: u64,
}

impl HeldLocks {
    /// Adds a lock.
    pub fn acquire(&mut self, lock: LockId, mode: Mode, since: u64) {
        let at = self.0.partition_point(|hold| hold.lock < lock);
        self.0.insert(at, LockHold { lock, mode, since });
    }

    /// Removes a lock; nothing happens if it is not held.
    pub fn release(&mut self, lock: LockId) {
        self.0.retain(|hold| hold.lock != lock);
    }

    /// The holds, by lock.
    pub fn holds(&self) -> &[LockHold] {
        &self.0
    }

    /// Whether no lock is held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some lock is in both and not merely shared by both: then the two cannot hold at the same time in two
    /// threads.
    pub fn excludes(&self, other: &HeldLocks) -> bool {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.lock.cmp(&y.lock) {
                std::cmp::Ordering::Less => drop(a.next()),
                std::cmp::Ordering::Greater => drop(b.next()),
                std::cmp::Ordering::Equal if x.mode == Mode::Shared && y.mode == Mode::Shared => {
                    a.next();
                    b.next();
                }
                std::cmp::Ordering::Equal => return true,
            }
        }
        false
    }

    /// The locks of this set that `later`, a later point of the same thread, still holds from the same acquisition.
    pub fn still_held(&self, later: &HeldLocks) -> HeldLocks {
        HeldLocks(self.0.iter().filter(|hold| later.0.contains(hold)).copied().collect())
    }

    /// The same locks without what tells acquisitions apart, for comparing and interning.
    pub fn without_since(&self) -> HeldLocks {
        HeldLocks(self.0.iter().map(|hold| LockHold { since: 0, ..*hold }).collect())
    }
}

/// An access of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Index of its step.
    pub step: usize,
    /// The location.
    pub location: LocationId,
    /// Read or write.
    pub kind: Kind,
    /// The locks held.
    pub held: HeldLocks,
    /// For a read: no write of the location precedes it in the transaction.
    pub uninitialized: bool,
    /// For a write: no write of the location follows it in the transaction.
    pub last: bool,
    /// How many lock, fork and join steps come before it: two accesses with the same count cannot be distinguished by
    /// synchronisation.
    pub epoch: u32,
}

/// What one thread does from one point to another and that should look like one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Who.
    pub thread: ThreadId,
    /// What, in program order.
    pub steps: Vec<TransactionStep>,
    /// The locks already held when it begins.
    pub entry: HeldLocks,
}

impl Transaction {
    /// A transaction that begins with no lock held.
    pub fn new(thread: ThreadId, actions: impl IntoIterator<Item = Action>) -> Self {
        let steps = actions
            .into_iter()
            .zip(0..)
            .map(|(action, origin)| TransactionStep { action, origin })
            .collect();
        Transaction {
            thread,
            steps,
            entry: HeldLocks::default(),
        }
    }

    /// The locks held when each step happens; an acquire holds the lock from its own step on, a release no longer.
    pub fn held(&self) -> Vec<HeldLocks> {
        let mut held = self.entry.clone();
        self.steps
            .iter()
            .map(|step| {
                match step.action {
                    Action::Acquire(lock, mode) => held.acquire(lock, mode, step.origin + 1),
                    Action::Release(lock, _) => held.release(lock),
                    _ => {}
                }
                held.clone()
            })
            .collect()
    }

    /// The accesses in program order.
    pub fn accesses(&self) -> Vec<Access> {
        let held = self.held();
        let mut written: FxHashMap<LocationId, usize> = FxHashMap::default();
        let mut accesses: Vec<Access> = Vec::new();
        let mut epoch = 0;
        for (index, (step, held)) in self.steps.iter().zip(held).enumerate() {
            let (location, kind) = match step.action {
                Action::Read(location) => (location, Kind::Read),
                Action::Write(location) => (location, Kind::Write),
                _ => {
                    epoch += 1;
                    continue;
                }
            };
            let uninitialized = kind == Kind::Read && !written.contains_key(&location);
            if kind == Kind::Write
                && let Some(earlier) = written.insert(location, accesses.len())
            {
                accesses[earlier].last = false;
            }
            let last = kind == Kind::Write;
            accesses.push(Access {
                step: index,
                location,
                kind,
                held,
                uninitialized,
                last,
                epoch,
            });
        }
        accesses
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::definitions::TransactionSet;

    #[test]
    fn text_gives_steps_locksets_and_flags() {
        let set = TransactionSet::parse("t1: acq(a) r(x) acq(b) w(x) r(x) rel(b) rel(a)\n t2: u(y)").unwrap();
        assert_eq!(set.threads, ["t1", "t2"]);
        let accesses = set.transactions[0].accesses();
        let sizes: Vec<_> = accesses
            .iter()
            .map(|a| (a.kind, a.held.holds().len(), a.uninitialized, a.last))
            .collect();
        assert_eq!(
            sizes,
            [
                (Kind::Read, 1, true, false),
                (Kind::Write, 2, false, true),
                (Kind::Read, 2, false, false)
            ]
        );
        let update = &set.transactions[1].steps;
        assert_eq!(update.len(), 2);
        assert_eq!(update[0].origin, update[1].origin);
    }

    #[test]
    fn a_lock_taken_again_is_not_held_throughout() {
        let set = TransactionSet::parse("t: acq(a) r(x) rel(a) acq(a) w(x) rel(a)").unwrap();
        let accesses = set.transactions[0].accesses();
        assert!(accesses[0].held.still_held(&accesses[1].held).is_empty());
        assert!(accesses[0].held.excludes(&accesses[1].held));
    }

    #[test]
    fn readers_of_a_shared_lock_do_not_exclude_each_other() {
        let set = TransactionSet::parse("t: sacq(a) r(x) srel(a)\n u: acq(a) w(x) rel(a)").unwrap();
        let (reader, writer) = (set.transactions[0].accesses(), set.transactions[1].accesses());
        assert!(!reader[0].held.excludes(&reader[0].held));
        assert!(reader[0].held.excludes(&writer[0].held));
    }
}
