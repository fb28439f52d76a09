//! Theorems 4.1 to 4.4 of [`crate::reduction`] on a set of transactions.

use ravel_trace::{LocationId, Mode};
use rustc_hash::FxHashMap;

use crate::reduction::Mover;
use crate::transaction::{Action, HeldLocks, Kind, Transaction};

/// How accesses are found to be free of races.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RaceTest {
    /// Theorem 4.3: every pair of conflicting accesses has a common lock.
    #[default]
    EveryPair,
    /// Theorem 4.4: all accesses of the location have one common lock.
    CommonLock,
}

/// A transaction that has not the form, with the pair of steps that breaks it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Index of the transaction.
    pub transaction: usize,
    /// The step after which only left-movers may come: the first left-mover or non-mover.
    pub commit: usize,
    /// The right-mover or non-mover that comes after it all the same.
    pub step: usize,
}

/// Says for every step of every transaction how it moves. `before` says whether one step, as (transaction, step), must
/// come before another.
pub fn movers(
    transactions: &[Transaction],
    test: RaceTest,
    before: impl Fn((usize, usize), (usize, usize)) -> bool,
) -> Vec<Vec<Mover>> {
    let classes = Classes::new(transactions);
    let mut next_class = classes.of_access.iter();
    let race_free: Vec<bool> = match test {
        RaceTest::EveryPair => classes.free_by_pairs(&before),
        RaceTest::CommonLock => classes.free_by_common_lock(),
    };
    transactions
        .iter()
        .map(|transaction| {
            let mover = |action: Action| match action {
                Action::Acquire(..) | Action::Join(_) => Mover::Right,
                Action::Release(..) | Action::Fork(_) => Mover::Left,
                Action::Read(_) | Action::Write(_) => match next_class.next() {
                    Some(&class) if race_free[class] => Mover::Both,
                    _ => Mover::Non,
                },
            };
            transaction.steps.iter().map(|step| step.action).map(mover).collect()
        })
        .collect()
}

/// The first pair of steps that keeps a transaction from the form `(R|B)* N? (L|B)*`, if there is one.
pub fn first_break(transaction: &Transaction, movers: &[Mover]) -> Option<(usize, usize)> {
    let mut commit: Option<usize> = None;
    for (index, mover) in movers.iter().enumerate() {
        match (mover, commit) {
            (Mover::Both, _) | (Mover::Right, None) | (Mover::Left, Some(_)) => {}
            (Mover::Left | Mover::Non, None) => commit = Some(index),
            (Mover::Non, Some(at)) if transaction.steps[at].origin == transaction.steps[index].origin => {}
            (Mover::Right | Mover::Non, Some(at)) => return Some((at, index)),
        }
    }
    None
}

/// The transactions that are not reducible; none means that the set is atomic (Theorem 4.1).
pub fn check(
    transactions: &[Transaction],
    test: RaceTest,
    before: impl Fn((usize, usize), (usize, usize)) -> bool,
) -> Vec<Broken> {
    movers(transactions, test, before)
        .iter()
        .enumerate()
        .filter_map(|(transaction, movers)| {
            let (commit, step) = first_break(&transactions[transaction], movers)?;
            Some(Broken {
                transaction,
                commit,
                step,
            })
        })
        .collect()
}

/// Accesses that locks cannot tell apart, grouped.
struct Classes {
    class: Vec<Class>,
    /// For each access, in the order of transactions and steps, its class.
    of_access: Vec<usize>,
    at_location: FxHashMap<LocationId, Vec<usize>>,
}

struct Class {
    thread: usize,
    kind: Kind,
    held: HeldLocks,
    members: Vec<(usize, usize)>,
}

impl Classes {
    fn new(transactions: &[Transaction]) -> Self {
        let mut known: FxHashMap<(usize, LocationId, Kind, HeldLocks), usize> = FxHashMap::default();
        let mut classes = Classes {
            class: Vec::new(),
            of_access: Vec::new(),
            at_location: FxHashMap::default(),
        };
        for (index, transaction) in transactions.iter().enumerate() {
            for access in transaction.accesses() {
                let (thread, held) = (transaction.thread.index(), access.held.without_since());
                let id = *known
                    .entry((thread, access.location, access.kind, held.clone()))
                    .or_insert_with(|| {
                        classes
                            .at_location
                            .entry(access.location)
                            .or_default()
                            .push(classes.class.len());
                        classes.class.push(Class {
                            thread,
                            kind: access.kind,
                            held,
                            members: Vec::new(),
                        });
                        classes.class.len() - 1
                    });
                classes.class[id].members.push((index, access.step));
                classes.of_access.push(id);
            }
        }
        classes
    }

    fn free_by_pairs(&self, before: &impl Fn((usize, usize), (usize, usize)) -> bool) -> Vec<bool> {
        let mut free = vec![true; self.class.len()];
        for ids in self.at_location.values() {
            for (at, &a) in ids.iter().enumerate() {
                for &b in &ids[at + 1..] {
                    if (free[a] || free[b]) && self.class[a].races_with(&self.class[b], before) {
                        (free[a], free[b]) = (false, false);
                    }
                }
            }
        }
        free
    }

    fn free_by_common_lock(&self) -> Vec<bool> {
        let mut free = vec![true; self.class.len()];
        for ids in self.at_location.values() {
            let first = self.class[ids[0]].held.holds();
            let written = ids.iter().any(|&id| self.class[id].kind == Kind::Write);
            let one_thread = ids.iter().all(|&id| self.class[id].thread == self.class[ids[0]].thread);
            let common = first.iter().any(|hold| {
                ids.iter().all(|&id| {
                    let class = &self.class[id];
                    let mine = class.held.holds().iter().find(|mine| mine.lock == hold.lock);
                    mine.is_some_and(|mine| class.kind == Kind::Read || mine.mode == Mode::Exclusive)
                })
            });
            if written && !one_thread && !common {
                ids.iter().for_each(|&id| free[id] = false);
            }
        }
        free
    }
}

impl Class {
    fn races_with(&self, other: &Class, before: &impl Fn((usize, usize), (usize, usize)) -> bool) -> bool {
        self.thread != other.thread
            && (self.kind == Kind::Write || other.kind == Kind::Write)
            && !self.held.excludes(&other.held)
            && self
                .members
                .iter()
                .any(|&a| other.members.iter().any(|&b| !before(a, b) && !before(b, a)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::definitions::{ForkOrder, TransactionSet};

    fn broken(text: &str, test: RaceTest) -> Vec<(usize, usize, usize)> {
        let set = TransactionSet::parse(text).unwrap();
        let order = ForkOrder::new(&set.transactions);
        let found = check(&set.transactions, test, |a, b| order.before(a, b));
        found.iter().map(|b| (b.transaction, b.commit, b.step)).collect()
    }

    #[test]
    fn example_6_is_atomic_by_4_3_but_not_by_4_4() {
        let text = "t1: acq(l) w(x) rel(l) r(x)\n t2: acq(l) r(x) rel(l)";
        assert_eq!(broken(text, RaceTest::EveryPair), []);
        assert_eq!(broken(text, RaceTest::CommonLock), [(0, 1, 3)]);
    }

    #[test]
    fn examples_7_to_9_are_false_alarms_of_reduction() {
        assert_eq!(broken("t1: w(x) w(x)\n t2: w(x)", RaceTest::EveryPair), [(0, 0, 1)]);
        let eight = "t1: acq(l) r(x) rel(l) w(y)\n t2: acq(l) r(x) rel(l) w(y)";
        assert_eq!(broken(eight, RaceTest::EveryPair), [(0, 2, 3), (1, 2, 3)]);
        let line = "acq(l) w(x) r(x) rel(l) acq(l) w(x) rel(l)";
        let nine = format!("t1: {line}\n t2: {line}");
        assert_eq!(broken(&nine, RaceTest::EveryPair), [(0, 3, 4), (1, 3, 4)]);
    }

    #[test]
    fn movers_are_those_of_the_paper() {
        let set = TransactionSet::parse("t1: acq(l) r(x) rel(l) w(y)\n t2: acq(l) r(x) rel(l) w(y)").unwrap();
        let movers = movers(&set.transactions, RaceTest::EveryPair, |_, _| false);
        assert_eq!(movers[0], [Mover::Right, Mover::Both, Mover::Left, Mover::Non]);
    }

    #[test]
    fn accesses_before_the_start_of_the_other_thread_are_initialisation() {
        let text = "m: w(x) w(x) fork(t)\n t: w(x) r(x)";
        assert_eq!(broken(text, RaceTest::EveryPair), []);
        assert_eq!(
            broken("m: w(x) w(x)\n t: w(x) r(x)", RaceTest::EveryPair),
            [(0, 0, 1), (1, 0, 1)]
        );
    }

    #[test]
    fn an_update_is_one_step() {
        assert_eq!(broken("t1: u(x)\n t2: u(x)", RaceTest::EveryPair), []);
        assert_eq!(broken("t1: u(x) u(x)\n t2: u(x)", RaceTest::EveryPair), [(0, 0, 2)]);
    }

    #[test]
    fn a_single_thread_has_no_races_under_either_test() {
        assert_eq!(broken("t1: w(x) w(x)\n t1: w(x) r(x)", RaceTest::CommonLock), []);
        assert_eq!(broken("t1: w(x) w(x)\n t1: w(x) r(x)", RaceTest::EveryPair), []);
    }
}
