//! Whether some steps of two transactions can happen in a wanted order.
//!
//! **Paper.** Wang and Stoller, *Run-Time Analysis for Atomicity*, section 5.1. Theorem 5.1 answers for one step between
//! two others by locksets alone, provided that the two transactions cannot deadlock; the paper leaves the other case
//! open (example 10).
//!
//! **Departures.** Any number of steps may be asked for. For three steps without a potential for deadlock the condition
//! of Theorem 5.1 decides. With such a potential, when locking is not properly nested, when hard order (starts, joins)
//! is involved, and for more than three steps, all schedules of the two transactions are searched at once, as paths in
//! the grid of their positions: exact, and no more than |t|·|t'| states. Four steps need it because a lock taken
//! *between* the two inner steps may be held by the outer transaction; a test has the case.
//!
//! **Promises.** Exact for two transactions that run to their end, under locks and the order given.
//!
//! **Cost.** Locksets: O(k² L) for k steps asked. Grid: O(|t|·|t'|·L).

use super::goodlock;
use crate::transaction::{Action, HeldLocks, Transaction};

/// One of the two transactions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// Answers questions about the schedules of two transactions of different threads.
pub struct Pair<'a> {
    sides: [&'a Transaction; 2],
    held: [Vec<HeldLocks>; 2],
    exact: bool,
    /// For each side and step, how many steps of the other side must come first.
    needs: [Vec<usize>; 2],
}

impl<'a> Pair<'a> {
    /// Prepares for two transactions. `before(side, i, j)` says that step `i` of that side must come before step `j` of
    /// the other.
    pub fn new(a: &'a Transaction, b: &'a Transaction, before: impl Fn(Side, usize, usize) -> bool) -> Self {
        let needs_of = |side: Side, own: &Transaction, other: &Transaction| {
            let mut needed = 0;
            let count = |j: usize| {
                while needed < other.steps.len() && before(side, needed, j) {
                    needed += 1;
                }
                needed
            };
            (0..own.steps.len()).map(count).collect::<Vec<_>>()
        };
        let needs = [needs_of(Side::Second, a, b), needs_of(Side::First, b, a)];
        let ordered = needs.iter().flatten().any(|&needed| needed > 0);
        let exact = ordered || goodlock::may_deadlock(a, b) || !properly_nested(a) || !properly_nested(b);
        Pair {
            sides: [a, b],
            held: [a.held(), b.held()],
            exact,
            needs,
        }
    }

    /// Whether the steps can happen in this order in a schedule that both transactions finish.
    pub fn feasible(&self, wanted: &[(Side, usize)]) -> bool {
        let exact = self.exact || wanted.len() > 3;
        self.by_locksets(wanted) && (!exact || self.by_grid(wanted))
    }

    /// The condition of Theorem 5.1: necessary always, sufficient where no deadlock is possible.
    pub fn by_locksets(&self, wanted: &[(Side, usize)]) -> bool {
        wanted.iter().enumerate().all(|(at, &(side, first))| {
            // The stretch up to the next step of the same side encloses what comes between.
            let rest = &wanted[at + 1..];
            let Some(gap) = rest.iter().position(|(other, _)| *other == side).filter(|&gap| gap > 0) else {
                return true;
            };
            let second = rest[gap].1;
            let (steps, held) = (&self.sides[side as usize].steps, &self.held[side as usize]);
            if second <= first || steps[first].origin == steps[second].origin {
                return false;
            }
            let throughout = held[first].still_held(&held[second]);
            rest[..gap]
                .iter()
                .all(|&(other, step)| !throughout.excludes(&self.held[other as usize][step]))
        })
    }

    /// The exact test: is there a path through all positions of the two transactions that keeps locks, hard order
    /// and the wanted order, and in which nothing comes inside an indivisible step?
    pub fn by_grid(&self, wanted: &[(Side, usize)]) -> bool {
        let [a, b] = self.sides;
        let mut needs = self.needs.clone();
        for pair in wanted.windows(2) {
            let ((side, step), (next_side, next)) = (pair[0], pair[1]);
            if side == next_side {
                if next <= step {
                    return false;
                }
            } else {
                let need = &mut needs[next_side as usize][next];
                *need = (*need).max(step + 1);
            }
        }
        let width = b.steps.len() + 1;
        let mut reached = vec![false; (a.steps.len() + 1) * width];
        reached[0] = !a.entry.excludes(&b.entry);
        for p in 0..=a.steps.len() {
            for q in 0..=b.steps.len() {
                let from_a = p > 0 && reached[(p - 1) * width + q] && needs[0][p - 1] <= q && !inside(b, q);
                let from_b = q > 0 && reached[p * width + q - 1] && needs[1][q - 1] <= p && !inside(a, p);
                let at = p * width + q;
                reached[at] = reached[at] || ((from_a || from_b) && !self.after(0, p).excludes(self.after(1, q)));
            }
        }
        reached[reached.len() - 1]
    }

    fn after(&self, side: usize, steps: usize) -> &HeldLocks {
        if steps == 0 {
            &self.sides[side].entry
        } else {
            &self.held[side][steps - 1]
        }
    }
}

/// Whether position `at` lies between the two halves of one indivisible step.
fn inside(transaction: &Transaction, at: usize) -> bool {
    at > 0 && at < transaction.steps.len() && transaction.steps[at - 1].origin == transaction.steps[at].origin
}

/// Whether locks are given up in the reverse of the order in which they were taken.
fn properly_nested(transaction: &Transaction) -> bool {
    let mut taken = Vec::new();
    transaction.steps.iter().all(|step| match step.action {
        Action::Acquire(lock, _) => {
            taken.push(lock);
            true
        }
        // A lock held since before the transaction may be given up when none of its own is left.
        Action::Release(lock, _) => taken.pop().is_none_or(|last| last == lock),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::definitions::TransactionSet;
    use Side::{First, Second};

    #[test]
    fn example_10_passes_the_locksets_but_not_the_exact_test() {
        let text = "t: acq(l1) acq(l2) rel(l2) w(x) w(x) rel(l1)\n u: acq(l2) acq(l1) rel(l1) r(x) rel(l2)";
        let set = TransactionSet::parse(text).unwrap();
        let pair = Pair::new(&set.transactions[0], &set.transactions[1], |_, _, _| false);
        let wanted = [(First, 3), (Second, 3), (First, 4)];
        assert!(pair.by_locksets(&wanted));
        assert!(!pair.feasible(&wanted));
        assert!(pair.feasible(&[(First, 3), (First, 4), (Second, 3)]));
    }

    #[test]
    fn nothing_comes_inside_an_update() {
        let set = TransactionSet::parse("t: u(x)\n u: w(x)").unwrap();
        let pair = Pair::new(&set.transactions[0], &set.transactions[1], |_, _, _| false);
        assert!(!pair.feasible(&[(First, 0), (Second, 0), (First, 1)]));
    }

    #[test]
    fn a_lock_held_throughout_keeps_the_other_out() {
        let set = TransactionSet::parse("t: acq(l) w(x) w(x) rel(l)\n u: acq(l) r(x) rel(l)\n v: r(x)").unwrap();
        let [t, u, v] = [0, 1, 2].map(|index| &set.transactions[index]);
        assert!(!Pair::new(t, u, |_, _, _| false).feasible(&[(First, 1), (Second, 1), (First, 2)]));
        assert!(Pair::new(t, v, |_, _, _| false).feasible(&[(First, 1), (Second, 0), (First, 2)]));
    }
}
