//! The method to fix of a cycle of conflicts. A unit on everything that a thread touches is its outermost method, which may be a helper that
//! only calls the code in question, as in `later(100, OnCall::benLeaves)`. What lies on the cycle are the unit's steps, so the innermost unit
//! that has all of them is on it too, and its method is the one to name. What makes the bug, and what is forced, stays the outer one.

use std::cell::OnceCell;

use crate::engine::EngineState;
use crate::finding::{RuleFamily, UnitKind};
use crate::raw::RawReport;
use crate::units::{Owner, UnitId};
use ravel_trace::origin::is_platform;
use ravel_trace::{Names, ThreadId};
use rustc_hash::FxHashMap;

/// Units that are looked at for one that has all steps.
const MOST_INNER: usize = 10_000;

/// The units of a trace by thread and first event.
pub(super) struct InnerUnits<'a> {
    names: &'a Names,
    state: &'a EngineState,
    begins: OnceCell<FxHashMap<ThreadId, Vec<(u64, UnitId)>>>,
}

impl<'a> InnerUnits<'a> {
    pub(super) fn new(names: &'a Names, state: &'a EngineState) -> Self {
        InnerUnits {
            names,
            state,
            begins: OnceCell::new(),
        }
    }

    /// The innermost unit inside `owner` that has all of its steps of a report, if that is another one. One step says nothing about how far
    /// the code reaches that belongs together.
    pub(super) fn of(&self, report: &RawReport, owner: Owner) -> Option<Owner> {
        if report.rule.family() != RuleFamily::Serializability || owner.kind != UnitKind::Method {
            return None;
        }
        let is_own = |unit: Option<Owner>| unit.is_some_and(|unit| unit.unit == owner.unit);
        let own = report.steps.iter().filter(|step| is_own(step.owner));
        let own = own.map(|step| step.point.index);
        let (first, last) = (own.clone().min()?, own.max()?);
        let outer = self.state.units.info(owner.unit);
        if first == last {
            return None;
        }
        let of_thread = self.begins().get(&outer.thread)?;
        let before = of_thread.partition_point(|(begin, _)| *begin <= first);
        let inside = of_thread[..before].iter().rev().take(MOST_INNER);
        let mut inside = inside.take_while(|(begin, _)| *begin >= outer.begin.index);
        let (_, unit) = inside.find(|(_, unit)| self.has_until(*unit, last))?;
        (*unit != owner.unit).then_some(Owner {
            unit: *unit,
            kind: owner.kind,
        })
    }

    /// Whether a unit is a method of the program, or part of one, that lasts until an event.
    fn has_until(&self, unit: UnitId, last: u64) -> bool {
        let info = self.state.units.info(unit);
        let method = info.method.filter(|method| !is_platform(self.names.class_of(*method)));
        method.is_some() && info.end.is_none_or(|end| end.index >= last)
    }

    fn begins(&self) -> &FxHashMap<ThreadId, Vec<(u64, UnitId)>> {
        self.begins.get_or_init(|| {
            let mut begins: FxHashMap<ThreadId, Vec<(u64, UnitId)>> = FxHashMap::default();
            for index in 0..self.state.units.len() {
                let unit = UnitId(u32::try_from(index).expect("fewer than 2^32 units"));
                let info = self.state.units.info(unit);
                begins.entry(info.thread).or_default().push((info.begin.index, unit));
            }
            begins.values_mut().for_each(|units| units.sort_unstable());
            begins
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::analyse::analyse;
    use crate::finding::{Finding, Rule};
    use crate::registry;
    use crate::units::UnitSettings;
    use ravel_trace::memory::MemoryTrace;

    /// The cycle of all three threads; others are about two locks.
    fn cycle(text: &str) -> Finding {
        let mut trace = MemoryTrace::parse(text).expect("the trace of a test parses");
        let findings = analyse(&mut trace, &UnitSettings::default(), registry::all()).findings;
        let is_cycle = |finding: &Finding| finding.rule == Rule::Unserializable && finding.steps.len() == 6;
        findings.into_iter().find(is_cycle).expect("a cycle")
    }

    fn methods(finding: &Finding) -> Vec<&str> {
        finding.units.iter().map(|unit| unit.method.as_str()).collect()
    }

    /// Three doctors: each leaves if the next one is there. Two of them are started through a helper.
    fn on_call(ben: &str) -> String {
        format!(
            "
            t1                     | t2                      | t3
            enter OnCall.ann
            enter Duty.isAway
            acq Duty#2
            r Duty#2.away
            rel Duty#2
            exit
                                   | enter OnCall.later
                                   | enter OnCall.ben
                                   | enter Duty.isAway
                                   | acq Duty#3
                                   | r Duty#3.away
                                   | rel Duty#3
                                   | exit
                                   {ben}
                                   | enter Duty.leave
                                   | acq Duty#2
                                   | w Duty#2.away
                                   | rel Duty#2
                                   | exit
                                   | exit
                                   | exit
                                   |                         | enter OnCall.later
                                   |                         | enter OnCall.cleo
                                   |                         | enter Duty.isAway
                                   |                         | acq Duty#1
                                   |                         | r Duty#1.away
                                   |                         | rel Duty#1
                                   |                         | exit
                                   |                         | enter Duty.leave
                                   |                         | acq Duty#3
                                   |                         | w Duty#3.away
                                   |                         | rel Duty#3
                                   |                         | exit
                                   |                         | exit
                                   |                         | exit
            enter Duty.leave
            acq Duty#1
            w Duty#1.away
            rel Duty#1
            exit
            exit
        "
        )
    }

    #[test]
    fn the_method_that_looks_and_acts_is_named_and_not_the_helper_that_calls_it() {
        let found = cycle(&on_call(""));
        assert_eq!(methods(&found), ["OnCall.ann", "OnCall.ben", "OnCall.cleo"]);
        assert!(
            found
                .help
                .contains("over the whole of OnCall.ann, OnCall.ben and OnCall.cleo"),
            "{}",
            found.help
        );
    }

    #[test]
    fn a_method_that_is_called_once_to_look_and_once_to_act_is_not_the_one() {
        let again = "| exit\n | enter OnCall.ben";
        let found = cycle(&on_call(again));
        assert_eq!(methods(&found), ["OnCall.ann", "OnCall.later", "OnCall.cleo"]);
    }

    #[test]
    fn the_id_is_that_of_the_outer_methods() {
        let once = cycle(&on_call(""));
        let twice = cycle(&on_call("| exit\n | enter OnCall.ben"));
        assert_eq!(once.id, twice.id);
    }
}
