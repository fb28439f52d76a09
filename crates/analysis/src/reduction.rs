//! Reduction: a unit whose steps are right-movers, then at most one non-mover, then left-movers, is atomic.
//!
//! **Paper.** Wang and Stoller, *Run-Time Analysis for Atomicity* (RV 2003), section 4, after Lipton. Theorem 4.2 says
//! which steps move, Theorems 4.3 and 4.4 when an access is free of races, Theorem 4.1 that the form
//! `(R|B)* N? (L|B)*` is atomic.
//!
//! **Departures.** The paper knows locks only. Here an access that thread starts, joins or other hard order separate
//! from every conflicting access is race-free as well; that also is our notion of initialisation (accesses by one
//! thread before any other can run). A fork is a left-mover (only the child's steps cannot be swapped with it, and
//! they come after it), a join a right-mover. Shared locks exclude exclusive holders only. In Theorem 4.4 the common
//! lock must be held exclusively by every write. The read and write of one indivisible update count as one step.
//!
//! **Promises.** No false negatives: a set in which no transaction is reported is atomic, over all orders that locks
//! and hard order allow. False alarms are common (examples 7, 8 and 9 of the paper): a report is a suspicion, `blocks`
//! decides.
//!
//! **Cost.** Accesses are grouped by location, thread, kind and lockset: with C groups per location O(E + C² L); the
//! test of Theorem 4.4 is O(E L). When order must be asked, each pair of accesses in two groups is looked at once.
//!
//! [`units`] applies the theorems to a whole trace. Tests compare it with the theorems on sets of transactions, in `definitions`.

pub mod units;

/// How a step commutes with the steps of other threads next to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mover {
    /// Swaps with a following step.
    Right,
    /// Swaps with a preceding step.
    Left,
    /// Swaps with both.
    Both,
    /// Not known to swap.
    Non,
}
