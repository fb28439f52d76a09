//! Atomic transactions as reduced sets of events: Focus, section 6.2.
//!
//! An execution of a method that is verified atomic takes no lock after it has given one up. It stands for one event for each
//! variable, a write if it writes the variable and a read if it only reads it, each under all locks held at any point of it
//! (`held(t)`). So no two of its events are of one variable: it is never the unit that is torn apart on one. Its events are what may
//! come between those of others (the paper's first way), and pairs of its variables are compared with pairs of others (the
//! third way).
//!
//! **Use.** Only `ravel check --reduce-atomic` asks for it ([`reduced`] fills [`Focus::shorten`](ravel_analysis::focus::Focus::shorten)).
//! The paper's analysis compares every transaction with every other one and saves a third by it. The block-based analysis of Ravel
//! compares equal units once, and on eleven programs it saved nothing (`docs/focus-results.md`, Table 2).
//!
//! **Departure.** The second way, the calls of atomic methods inside a transaction that is not atomic, is not taken: there events
//! keep their own locks, which allows more orders, never fewer.
//!
//! **Promise.** Where no deadlock is possible, which goodlock reports by itself, a set of transactions is atomic if and
//! only if it is with the atomic ones reduced; the theorem is a property test (`tests/reduced.rs`).

use ravel_analysis::transaction::{Action, Transaction};
use rustc_hash::FxHashMap;

/// The steps of the reduced transaction, by their places in the whole one: all locks taken, an event for each variable, all
/// locks given up. None if a lock is taken after one was given up, which a verified method never does.
pub fn reduced(transaction: &Transaction) -> Option<Vec<usize>> {
    let steps = &transaction.steps;
    let given_up = steps.iter().position(|step| matches!(step.action, Action::Release(..)));
    let taken = steps
        .iter()
        .rposition(|step| matches!(step.action, Action::Acquire(..)));
    if let (Some(given_up), Some(taken)) = (given_up, taken)
        && given_up < taken
    {
        return None;
    }
    let mut events: Vec<usize> = Vec::new();
    let mut of: FxHashMap<_, usize> = FxHashMap::default();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        match step.action {
            Action::Acquire(..) => before.push(at),
            Action::Release(..) => after.push(at),
            Action::Fork(_) | Action::Join(_) => return None,
            Action::Read(location) | Action::Write(location) => match of.get(&location) {
                None => {
                    of.insert(location, events.len());
                    events.push(at);
                }
                Some(&known) => {
                    let writes = |at: usize| matches!(steps[at].action, Action::Write(_));
                    if writes(at) && !writes(events[known]) {
                        events[known] = at;
                    }
                }
            },
        }
    }
    before.extend(events);
    before.extend(after);
    Some(before)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use ravel_analysis::definitions::TransactionSet;

    fn shown(text: &str) -> Option<Vec<usize>> {
        reduced(&TransactionSet::parse(text).unwrap().transactions[0])
    }

    #[test]
    fn one_event_for_each_variable_is_left_under_all_locks() {
        let whole = "t1: r(x) acq(m) r(y) w(x) acq(n) w(x) r(y) rel(n) r(z) rel(m)";
        assert_eq!(shown(whole), Some(vec![1, 4, 3, 2, 8, 7, 9]));
        assert_eq!(shown("t1: acq(m) r(x) rel(m) acq(m) w(x) rel(m)"), None);
        assert_eq!(shown("t1: r(x)"), Some(vec![0]));
    }
}
