//! In which order conflicting operations came, so that runs can be compared.

use rustc_hash::FxHashMap;

use crate::search::strategy::{Op, number_of};

/// The order of conflicting operations in a number: two runs that differ only in the order of operations that do not conflict have
/// the same.
#[derive(Default)]
pub(super) struct OrderOfConflicts {
    /// By what the operations touch: the last that wrote, and those that have read since.
    touched: FxHashMap<(u8, u64), (u64, u64)>,
    /// Objects by the operation that touched them first: their ids mean nothing in another run.
    names: FxHashMap<u64, u64>,
    pub(super) sum: u64,
}

impl OrderOfConflicts {
    /// A thread has done something: `own` is the number of that operation, the same in every run.
    pub(super) fn done(&mut self, own: u64, op: Op) {
        let mut name = |object: u64| *self.names.entry(object).or_insert(own);
        let (key, writes) = match op {
            Op::Step => return,
            Op::Access { field, writes } => ((0, u64::from(field)), writes),
            Op::Monitor(lock) => ((1, name(lock)), true),
            Op::Call { object, writes } => ((1, name(object)), writes),
        };
        let (written, read) = self.touched.entry(key).or_default();
        let after = number_of(&(own, *written, if writes { *read } else { 0 }));
        if writes {
            (*written, *read) = (after, 0);
        } else {
            *read ^= after;
        }
        self.sum ^= after;
    }
}
