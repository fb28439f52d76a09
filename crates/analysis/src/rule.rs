//! The rules: what a finding can be. One table, [`for_each_rule!`](crate::for_each_rule), makes the type, its ids and its list
//! here, and the pages of `ravel explain` in the report.
//!
//! To add a rule: a line in the table and the page `crates/report/src/rules/ID.md`. The compiler refuses a rule without a
//! page. Code never matches on a rule with a wildcard; it matches on the [`RuleFamily`], which says how a run shows the bug. A rule
//! of a family that exists needs no other change, and a new family is an error at each place that must decide about it.

use serde::{Deserialize, Serialize};

/// How a run shows a bug. It decides how findings are merged, which order of events forces them, and how they are described.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleFamily {
    /// Two accesses side by side that nothing orders.
    Race,
    /// Accesses that no common lock guards; a race if they meet.
    Discipline,
    /// An access of another thread between two accesses of a unit to one location.
    Atomicity,
    /// The same over several locations that belong together.
    AtomicSet,
    /// Units on a cycle of conflicts over everything they touch.
    Serializability,
    /// Threads that wait for each other's locks.
    LockOrder,
    /// A run that failed: what went wrong is the bug.
    Failure,
    /// A defect of the code that no order of events shows by itself.
    Code,
}

impl RuleFamily {
    /// Whether a unit is interrupted: some other order of the same events is serial.
    pub fn is_interruption(self) -> bool {
        match self {
            RuleFamily::Atomicity | RuleFamily::AtomicSet | RuleFamily::Serializability => true,
            RuleFamily::Race
            | RuleFamily::Discipline
            | RuleFamily::LockOrder
            | RuleFamily::Failure
            | RuleFamily::Code => false,
        }
    }

    /// Whether two accesses are enough to show it.
    pub fn is_race(self) -> bool {
        match self {
            RuleFamily::Race | RuleFamily::Discipline => true,
            RuleFamily::Atomicity
            | RuleFamily::AtomicSet
            | RuleFamily::Serializability
            | RuleFamily::LockOrder
            | RuleFamily::Failure
            | RuleFamily::Code => false,
        }
    }
}

/// Calls a macro with the table of rules: documentation, name, id, [`RuleFamily`](crate::rule::RuleFamily). Pages and suites list the
/// rules in this order.
#[macro_export]
macro_rules! for_each_rule {
    ($callback:ident) => {
        $callback! {
            /// Two unordered accesses, one a write.
            DataRace, "data-race", Race;
            /// A unit's accesses to one location interleaved so that no serial order explains them.
            Atomicity, "atomicity", Atomicity;
            /// The same over the several locations of an atomic set.
            AtomicSet, "atomic-set", AtomicSet;
            /// A unit on a cycle of conflicts over everything it touches.
            Unserializable, "unserializable", Serializability;
            /// A field with no consistent lock.
            LockDiscipline, "lock-discipline", Discipline;
            /// Locks taken in a circle.
            LockOrder, "lock-order", LockOrder;
            /// A run that an uncaught exception or a standstill ended.
            Failure, "failure", Failure;
            /// The static lock pattern.
            LockPattern, "lock-pattern", Code;
            /// A field used without the lock that its annotation names.
            GuardedBy, "guarded-by", Code;
            /// Double-checked locking on a field that is not volatile.
            DoubleCheckedLocking, "double-checked-locking", Code;
            /// A lock in a field that is reassigned.
            ReassignedLock, "reassigned-lock", Code;
            /// A wait that no loop surrounds.
            WaitOutsideLoop, "wait-outside-loop", Code;
            /// A notification without a change of state.
            NakedNotify, "naked-notify", Code;
            /// A field tested before a lock is taken, and assigned under it without a second test.
            TestLockAssign, "test-lock-assign", Code;
            /// A concurrent container asked and then changed in two steps.
            CheckThenAct, "check-then-act", Code;
            /// A field that most uses guard by a lock and some do not.
            InconsistentSync, "inconsistent-sync", Code;
            /// A static field guarded by different locks in different places.
            TwoGuards, "two-guards", Code;
            /// A volatile field updated in several steps.
            CompoundVolatile, "compound-volatile", Code;
            /// A date format or calendar that all threads share.
            SharedFormat, "shared-format", Code;
            /// An object that leaves its constructor before it is made.
            UnsafePublication, "unsafe-publication", Code;
            /// A way out of a method that leaves a lock held.
            UnreleasedLock, "unreleased-lock", Code;
            /// A wait that keeps a second lock.
            NestedWait, "nested-wait", Code;
            /// One thread woken where several conditions share a monitor.
            NotifyOne, "notify-one", Code;
        }
    };
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident, $id:literal, $family:ident;)*) => {
        /// The kind of bug.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum Rule {
            $($(#[$doc])* #[serde(rename = $id)] $name,)*
        }

        impl Rule {
            /// All rules, in the order in which pages and suites list them.
            pub const ALL: &[Rule] = &[$(Rule::$name),*];

            /// The rule's id, `data-race`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$name => $id,)*
                }
            }

            /// How a run shows it.
            pub fn family(self) -> RuleFamily {
                match self {
                    $(Rule::$name => RuleFamily::$family,)*
                }
            }
        }
    };
}

for_each_rule!(rules);

impl Rule {
    /// The ids of all rules.
    pub fn ids() -> Vec<&'static str> {
        Rule::ALL.iter().map(|rule| rule.name()).collect()
    }

    /// The rule with this id.
    pub fn parse(id: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_json_form() {
        for rule in Rule::ALL {
            let json = serde_json::to_string(rule).expect("a rule");
            assert_eq!(json, format!("\"{}\"", rule.name()));
            assert_eq!(Rule::parse(rule.name()), Some(*rule));
        }
        assert_eq!(Rule::parse("DataRace"), None);
    }

    #[test]
    fn a_rule_is_one_line_of_the_table() {
        mod extended {
            use crate::rule::RuleFamily;
            use serde::{Deserialize, Serialize};
            rules! {
                /// Two unordered accesses, one a write.
                DataRace, "data-race", Race;
                /// A thread that holds a lock while it sleeps.
                SleepWithLock, "sleep-with-lock", Code;
            }
        }
        let added = extended::Rule::SleepWithLock;
        assert_eq!((added.name(), added.family()), ("sleep-with-lock", RuleFamily::Code));
        assert_eq!(extended::Rule::ALL, [extended::Rule::DataRace, added]);
        let read: extended::Rule = serde_json::from_str("\"sleep-with-lock\"").expect("a rule");
        assert_eq!(read, added);
    }
}
