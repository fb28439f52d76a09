//! What threads do to each other outside of a pattern's units. Output is that of the whole program: if a report of a third thread comes before
//! a payment in the one run and after it in the other, their output differs, whatever the units do.
//!
//! So output is compared only between runs in which all other code that shares variables came in the same order.

use std::collections::BTreeMap;
use std::sync::Arc;

use ravel_schedule::naming;
use ravel_trace::{Event, LocationId, Names, ThreadId};
use rustc_hash::FxHashMap;

use super::controls::Controls;
use super::harm::Judged;
use super::marks::variable;
use crate::runner::Forced;

/// Of each variable that threads share outside of the units: which thread accessed it in turn, and whether it wrote.
type Turns = BTreeMap<String, Vec<(String, bool)>>;

/// Who accesses a location.
#[derive(Clone, Copy)]
struct Access {
    thread: ThreadId,
    shared: bool,
    written: bool,
}

impl Judged<'_> {
    /// The serial orders in whose runs other code came in the order of the forced run; the rest is missing. None if there is no such order.
    pub(super) fn others_alike(&self, runs: &[Arc<Forced>], controls: &Controls) -> Option<Controls> {
        let Some(wanted) = self.turns(&runs[0]) else {
            return Some(controls.clone());
        };
        let is_alike = |run: &Arc<Forced>| self.turns(run).is_none_or(|turns| agree(&wanted, &turns));
        let alike = controls.only(is_alike);
        (!alike.orders.is_empty() && runs.iter().all(is_alike)).then_some(alike)
    }

    /// None if not all of it is known.
    fn turns(&self, run: &Forced) -> Option<Turns> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
        let inside = self.inside(run, events, names);
        let outside = || {
            events
                .iter()
                .zip(&inside)
                .filter(|(_, inside)| !**inside)
                .map(|(event, _)| event)
        };
        Some(turns(outside, names))
    }
}

fn turns<'e, I: Iterator<Item = &'e Event>>(outside: impl Fn() -> I, names: &Names) -> Turns {
    let mut accesses: FxHashMap<LocationId, Access> = FxHashMap::default();
    for event in outside() {
        if let Some(location) = event.op.location() {
            let access = accesses.entry(location).or_insert(Access {
                thread: event.thread,
                shared: false,
                written: false,
            });
            access.shared |= access.thread != event.thread;
            access.written |= event.op.is_write();
        }
    }
    let paths = naming::thread_names(names, names.threads.len());
    let mut turns = Turns::new();
    for event in outside() {
        let access = event.op.location().and_then(|location| accesses.get(&location));
        if access.is_some_and(|access| access.shared && access.written) {
            let path = paths.get(event.thread.index()).map_or("", |name| name.path.as_str());
            let turn = (path.to_owned(), event.op.is_write());
            let of_variable = turns.entry(variable(event, names)).or_default();
            if of_variable.last() != Some(&turn) {
                of_variable.push(turn);
            }
        }
    }
    turns
}

/// Whether two runs have the same order on each variable that both share. One that only one of them shares tells of another path.
fn agree(one: &Turns, other: &Turns) -> bool {
    let same = |(name, turns): (&String, &Vec<(String, bool)>)| other.get(name).is_none_or(|other| other == turns);
    one.iter().all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_trace::{MemoryTrace, Source as _};

    fn of(text: &str) -> Turns {
        let trace = MemoryTrace::parse(text).expect("a trace");
        turns(|| trace.events().iter(), trace.names())
    }

    #[test]
    fn a_report_before_a_payment_is_another_order_than_after_it() {
        let before = of("t1 | t2\n | r Till.sum\n w Till.sum |\n");
        let after = of("t1 | t2\n w Till.sum |\n | r Till.sum\n");
        assert!(!agree(&before, &after));
        assert!(agree(&before, &before));
    }

    #[test]
    fn a_variable_of_one_thread_or_of_readers_has_no_order() {
        let apart = of("t1 | t2\n w A.own |\n r A.own |\n | r A.both\n r A.both |\n");
        assert!(apart.is_empty(), "{apart:?}");
    }
}
