//! What is proven of the program a trace is of, so that it need not be checked again: Focus, section 6.
//!
//! **Use.** The lockset and race analyses pass over fields that cannot race (6.1). Reduction does not judge executions of methods
//! that are verified atomic; the block-based analysis stands each for a reduced set of events
//! ([`reduced`](crate::blocks::reduced), 6.2), so that it takes part as what may come between the accesses of others, and in
//! pairs of variables.
//!
//! **Promise.** If what is proven is true of the program, no race and no atomicity violation is lost: a field whose every
//! access is under one lock, or unshared, or of an object that never changes, has no race, and a unit that is atomic in
//! every execution is in no pattern as the unit that is torn apart. What is given up are false alarms.

use ravel_trace::names::Names;
use ravel_trace::{FieldId, MethodId};
use rustc_hash::FxHashSet;

/// What is proven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Fields that cannot race, `shop.Stock.items`.
    pub race_free: FxHashSet<String>,
    /// Methods that are atomic in every execution, `shop.Stock.take(I)Z`.
    pub atomic: FxHashSet<String>,
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
