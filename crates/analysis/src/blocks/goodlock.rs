//! Goodlock: locks taken in a circle, which may end in a deadlock.
//!
//! **Paper.** Havelund's goodlock as Wang and Stoller use it (*Run-Time Analysis for Atomicity*, section 5.1), extended
//! from two threads to cycles of any length.
//!
//! **What a cycle is.** Threads 1 to n, all different; thread i holds lock i and takes lock i+1 (the last takes lock 1).
//! It is no deadlock if two of the threads hold a common *gate* lock meanwhile, if two of the holds are only shared with
//! what is taken, or if hard order (thread start, join, hand-over) keeps two of the stretches apart.
//!
//! **Promises.** No misses among the lock orders seen in the trace, as long as the bound on the search is not hit (which
//! is reported). False alarms: when data or control flow prevents the meeting; the schedule has the last word.
//!
//! **Cost.** One entry per distinct (thread, held locks, taken lock, places); cycles are searched inside strongly connected
//! components of the lock graph only, each from its smallest lock, at most [`STEP_BOUND`] steps in all.

use ravel_trace::{LockId, Mode, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::transaction::{Action, HeldLocks, Transaction};

/// The most steps that a search for cycles takes before it gives up.
pub const STEP_BOUND: usize = 1_000_000;

/// A lock taken while another is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nesting<P> {
    /// Who.
    pub thread: ThreadId,
    /// The lock held.
    pub held: LockId,
    /// How it is held.
    pub held_mode: Mode,
    /// The lock taken.
    pub taken: LockId,
    /// How it is taken.
    pub taken_mode: Mode,
    /// All locks held while it is taken, itself excluded.
    pub gates: HeldLocks,
    /// Where the held lock was taken.
    pub hold_at: P,
    /// Where the other one is taken.
    pub take_at: P,
}

/// Nestings that form a circle, from the one that holds the smallest lock on.
pub type Cycle<P> = Vec<Nesting<P>>;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Cycles<P> {
    /// One cycle for each sequence of (thread, lock, lock).
    pub found: Vec<Cycle<P>>,
    /// Whether the search was stopped at its bound, so that some may be missing.
    pub bounded: bool,
}

/// Finds the cycles among nestings. `apart(a, b)` says that the stretch `a` is over before `b` begins.
pub fn cycles<P: Clone>(nestings: &[Nesting<P>], apart: impl Fn(&Nesting<P>, &Nesting<P>) -> bool) -> Cycles<P> {
    let component = components(nestings);
    let mut from: FxHashMap<LockId, Vec<usize>> = FxHashMap::default();
    for (index, nesting) in nestings.iter().enumerate() {
        if component[&nesting.held] == component[&nesting.taken] {
            from.entry(nesting.held).or_default().push(index);
        }
    }
    let mut starts: Vec<LockId> = from.keys().copied().collect();
    starts.sort_unstable();
    let mut search = NestingSearch {
        nestings,
        from: &from,
        apart: &apart,
        steps: 0,
        seen: FxHashSet::default(),
        found: Vec::new(),
    };
    for start in starts {
        search.extend(start, start, &mut Vec::new());
    }
    Cycles {
        bounded: search.steps >= STEP_BOUND,
        found: search.found,
    }
}

struct NestingSearch<'a, P, A> {
    nestings: &'a [Nesting<P>],
    from: &'a FxHashMap<LockId, Vec<usize>>,
    apart: &'a A,
    steps: usize,
    seen: FxHashSet<Vec<(ThreadId, LockId)>>,
    found: Vec<Cycle<P>>,
}

impl<P: Clone, A: Fn(&Nesting<P>, &Nesting<P>) -> bool> NestingSearch<'_, P, A> {
    fn extend(&mut self, start: LockId, at: LockId, path: &mut Vec<usize>) {
        let Some(next) = self.from.get(&at) else { return };
        for &index in next {
            self.steps += 1;
            if self.steps >= STEP_BOUND {
                return;
            }
            let nesting = &self.nestings[index];
            // A lock on the path twice would be a shorter cycle; below the start it was searched before.
            let back = nesting.taken == start;
            let repeated =
                !back && (nesting.taken < start || path.iter().any(|&on| self.nestings[on].held == nesting.taken));
            if repeated || !path.iter().all(|&on| self.fits(&self.nestings[on], nesting)) {
                continue;
            }
            let meets = |a: Mode, b: Mode| a == Mode::Exclusive || b == Mode::Exclusive;
            if path
                .last()
                .is_some_and(|&last| !meets(self.nestings[last].taken_mode, nesting.held_mode))
            {
                continue;
            }
            path.push(index);
            if !back {
                self.extend(start, nesting.taken, path);
            } else if path.len() > 1 && meets(nesting.taken_mode, self.nestings[path[0]].held_mode) {
                self.keep(path);
            }
            path.pop();
        }
    }

    fn fits(&self, a: &Nesting<P>, b: &Nesting<P>) -> bool {
        a.thread != b.thread && !a.gates.excludes(&b.gates) && !(self.apart)(a, b) && !(self.apart)(b, a)
    }

    fn keep(&mut self, path: &[usize]) {
        let cycle: Cycle<P> = path.iter().map(|&index| self.nestings[index].clone()).collect();
        if self
            .seen
            .insert(cycle.iter().map(|nesting| (nesting.thread, nesting.held)).collect())
        {
            self.found.push(cycle);
        }
    }
}

/// The strongly connected component of every lock, by two depth-first passes without recursion.
fn components<P>(nestings: &[Nesting<P>]) -> FxHashMap<LockId, usize> {
    let mut forward: FxHashMap<LockId, Vec<LockId>> = FxHashMap::default();
    let mut backward: FxHashMap<LockId, Vec<LockId>> = FxHashMap::default();
    for nesting in nestings {
        forward.entry(nesting.held).or_default().push(nesting.taken);
        forward.entry(nesting.taken).or_default();
        backward.entry(nesting.taken).or_default().push(nesting.held);
    }
    let mut locks: Vec<LockId> = forward.keys().copied().collect();
    locks.sort_unstable();
    let mut finished = Vec::new();
    let mut seen = FxHashSet::default();
    for &root in &locks {
        visit(root, &forward, &mut seen, &mut finished);
    }
    let mut component = FxHashMap::default();
    let mut seen = FxHashSet::default();
    for (number, &root) in finished.iter().rev().enumerate() {
        let mut members = Vec::new();
        visit(root, &backward, &mut seen, &mut members);
        component.extend(members.into_iter().map(|lock| (lock, number)));
    }
    component
}

fn visit(
    root: LockId,
    edges: &FxHashMap<LockId, Vec<LockId>>,
    seen: &mut FxHashSet<LockId>,
    finished: &mut Vec<LockId>,
) {
    let mut stack = vec![(root, false)];
    while let Some((lock, done)) = stack.pop() {
        if done {
            finished.push(lock);
        } else if seen.insert(lock) {
            stack.push((lock, true));
            stack.extend(edges.get(&lock).into_iter().flatten().map(|&next| (next, false)));
        }
    }
}

/// Every lock taken while another is held, in a set of transactions. Places are (transaction, step).
pub fn nestings(transactions: &[Transaction]) -> Vec<Nesting<(usize, usize)>> {
    let mut nestings = Vec::new();
    for (index, transaction) in transactions.iter().enumerate() {
        let mut held = transaction.entry.clone();
        let mut taken_at: FxHashMap<LockId, usize> = FxHashMap::default();
        for (step, &action) in transaction.steps.iter().map(|step| &step.action).enumerate() {
            match action {
                Action::Acquire(taken, taken_mode) => {
                    nestings.extend(held.holds().iter().map(|hold| Nesting {
                        thread: transaction.thread,
                        held: hold.lock,
                        held_mode: hold.mode,
                        taken,
                        taken_mode,
                        gates: held.without_since(),
                        hold_at: (index, taken_at.get(&hold.lock).copied().unwrap_or(0)),
                        take_at: (index, step),
                    }));
                    held.acquire(taken, taken_mode, transaction.steps[step].origin + 1);
                    taken_at.insert(taken, step);
                }
                Action::Release(lock, _) => held.release(lock),
                _ => {}
            }
        }
    }
    nestings
}

/// Whether two transactions alone may deadlock.
pub fn may_deadlock(a: &Transaction, b: &Transaction) -> bool {
    let (a, b) = (nestings(std::slice::from_ref(a)), nestings(std::slice::from_ref(b)));
    let exclusive = |x: Mode, y: Mode| x == Mode::Exclusive || y == Mode::Exclusive;
    a.iter().any(|x| {
        b.iter().any(|y| {
            x.held == y.taken
                && x.taken == y.held
                && exclusive(x.held_mode, y.taken_mode)
                && exclusive(x.taken_mode, y.held_mode)
                && !x.gates.excludes(&y.gates)
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::definitions::{ForkOrder, TransactionSet, lock_cycles};

    fn cycles_of(text: &str) -> Vec<Vec<String>> {
        let set = TransactionSet::parse(text).unwrap();
        let found = lock_cycles(&set.transactions, &ForkOrder::new(&set.transactions));
        assert!(!found.bounded);
        let name = |lock: LockId| set.locks[lock.index()].clone();
        found
            .found
            .iter()
            .map(|cycle| cycle.iter().map(|nesting| name(nesting.held)).collect())
            .collect()
    }

    #[test]
    fn opposite_orders_are_a_cycle() {
        let text = "t1: acq(a) acq(b) rel(b) rel(a)\n t2: acq(b) acq(a) rel(a) rel(b)";
        assert_eq!(cycles_of(text), [["a", "b"]]);
    }

    #[test]
    fn one_thread_alone_is_none() {
        assert!(cycles_of("t1: acq(a) acq(b) rel(b) rel(a)\n t1: acq(b) acq(a) rel(a) rel(b)").is_empty());
    }

    #[test]
    fn a_gate_lock_prevents_it() {
        let text = "t1: acq(g) acq(a) acq(b) rel(b) rel(a) rel(g)\n t2: acq(g) acq(b) acq(a) rel(a) rel(b) rel(g)";
        assert!(cycles_of(text).is_empty());
        let shared = text.replace("acq(g)", "sacq(g)").replace("rel(g)", "srel(g)");
        assert_eq!(cycles_of(&shared), [["a", "b"]]);
    }

    #[test]
    fn three_threads_in_a_circle() {
        let text =
            "t1: acq(a) acq(b) rel(b) rel(a)\n t2: acq(b) acq(c) rel(c) rel(b)\n t3: acq(c) acq(a) rel(a) rel(c)";
        assert_eq!(cycles_of(text), [["a", "b", "c"]]);
    }

    #[test]
    fn a_start_or_a_join_between_them_prevents_it() {
        let text = "m: acq(a) acq(b) rel(b) rel(a) fork(t)\n t: acq(b) acq(a) rel(a) rel(b)";
        assert!(cycles_of(text).is_empty());
        let text = "m: fork(t) join(t) acq(a) acq(b) rel(b) rel(a)\n t: acq(b) acq(a) rel(a) rel(b)";
        assert!(cycles_of(text).is_empty());
        let text = "m: fork(t) acq(a) acq(b) rel(b) rel(a)\n t: acq(b) acq(a) rel(a) rel(b)";
        assert_eq!(cycles_of(text).len(), 1);
    }

    #[test]
    fn read_locks_on_both_sides_do_not_block() {
        let text = "t1: sacq(a) acq(b) rel(b) srel(a)\n t2: acq(b) sacq(a) srel(a) rel(b)";
        assert!(cycles_of(text).is_empty());
        let text = "t1: sacq(a) acq(b) rel(b) srel(a)\n t2: acq(b) acq(a) rel(a) rel(b)";
        assert_eq!(cycles_of(text).len(), 1);
    }
}
