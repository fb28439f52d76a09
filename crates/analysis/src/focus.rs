//! What is proven of the program a trace is of, so that it need not be checked again: Focus, section 6.
//!
//! **Use.** The lockset and race analyses pass over fields that cannot race (6.1). Reduction does not judge executions of methods
//! that are verified atomic; the block-based analysis does not look for accesses that come between those of one, and keeps it as
//! what may come between the accesses of others, and in pairs of variables. It takes such an execution as it is, unless the
//! caller gives a way to [`shorten`](Focus::shorten) it (6.2).
//!
//! **Promise.** If what is proven is true of the program, no race and no atomicity violation is lost: a field whose every
//! access is under one lock, or unshared, or of an object that never changes, has no race, and a unit that is atomic in
//! every execution is in no pattern as the unit that is torn apart. What is given up are false alarms.

use ravel_trace::names::Names;
use ravel_trace::{FieldId, MethodId};
use rustc_hash::FxHashSet;

use crate::transaction::Transaction;

/// Chooses the steps that stand for an atomic transaction: their indices, in the order in which they are to come. None if the
/// transaction stays as it is.
pub type Shorten = fn(&Transaction) -> Option<Vec<usize>>;

/// What is proven.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// Fields that cannot race, `shop.Stock.items`.
    pub race_free: FxHashSet<String>,
    /// Methods that are atomic in every execution, `shop.Stock.take(I)Z`.
    pub atomic: FxHashSet<String>,
    /// How the block-based analysis shortens executions of these methods; not at all by default.
    pub shorten: Option<Shorten>,
}

impl Focus {
    /// Whether a field cannot race.
    pub fn is_race_free(&self, names: &Names, field: FieldId) -> bool {
        if self.race_free.is_empty() {
            return false;
        }
        let field = names.field(field);
        let class = names
            .classes
            .get(field.class.index())
            .map_or("", |class| class.name.as_str());
        self.race_free.contains(&format!("{class}.{}", field.name))
    }

    /// Whether a method is atomic in every execution.
    pub fn is_atomic(&self, names: &Names, method: MethodId) -> bool {
        if self.atomic.is_empty() {
            return false;
        }
        let method = names.method(method);
        let class = names
            .classes
            .get(method.class.index())
            .map_or("", |class| class.name.as_str());
        self.atomic
            .contains(&format!("{class}.{}{}", method.name, method.descriptor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::registry;
    use crate::units::UnitSettings;
    use ravel_trace::memory::MemoryTrace;

    /// `add` reads and writes a counter that `put` may set in between.
    const TRACE: &str = "
        t1                  | t2
        enter Counter.add()V
        r Counter.n
        w Counter.n
        exit
                            | enter Counter.put()V
                            | w Counter.n
                            | exit
    ";

    /// How much the block-based analysis reports of it.
    fn reported(focus: Focus) -> usize {
        let settings = UnitSettings {
            focus,
            ..UnitSettings::default()
        };
        let mut trace = MemoryTrace::parse(TRACE).expect("the trace of a test parses");
        let blocks = registry::by_name("blocks").into_iter().collect();
        Engine::new(&settings, blocks).run(&mut trace).reports.len()
    }

    fn atomic(method: &str) -> FxHashSet<String> {
        [method.to_owned()].into_iter().collect()
    }

    #[test]
    fn only_units_that_are_proven_are_shortened_and_only_if_the_caller_says_how() {
        let to_nothing: Option<Shorten> = Some(|_| Some(Vec::new()));
        let focus = |method, shorten| Focus {
            atomic: atomic(method),
            shorten,
            ..Focus::default()
        };
        assert!(reported(Focus::default()) > 0);
        assert!(reported(focus("Counter.put()V", None)) > 0);
        assert_eq!(reported(focus("Counter.put()V", to_nothing)), 0);
        assert!(reported(focus("Counter.other()V", to_nothing)) > 0);
        assert!(reported(focus("Counter.put()V", Some(|_| None))) > 0);
    }

    #[test]
    fn a_unit_that_is_proven_is_not_torn() {
        let focus = Focus {
            atomic: atomic("Counter.add()V"),
            ..Focus::default()
        };
        assert_eq!(reported(focus), 0);
    }
}
