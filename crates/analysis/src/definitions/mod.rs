//! The definitions of the papers on whole sets of transactions, for tests only.
//!
//! The analyses of a trace work unit by unit and keep only part of the past. Here the same theorems stand as the papers write them,
//! as the oracle that the analyses are compared with; brute force (`oracle`) in turn checks the definitions. The feature `oracles`
//! opens both to the tests of other crates; the tool is built without it.

mod fork_order;
pub mod reduction;
mod text;

pub use fork_order::ForkOrder;
pub use text::{TextError, TransactionSet};

use crate::blocks::general::{Before, SetVerdict, check_beyond_pairs, check_pair};
use crate::blocks::goodlock::{Cycles, cycles, nestings};
use crate::transaction::Transaction;

/// The most strides that are tried for one group of transactions.
pub const STRIDE_BOUND: usize = 300_000;

/// Whether a set of transactions is atomic (isAtomicTrans).
pub fn atomicity(transactions: &[Transaction], order: &ForkOrder) -> SetVerdict {
    let order: &Before<'_> = &|a, b| order.before(a, b);
    for a in 0..transactions.len() {
        for b in a + 1..transactions.len() {
            if let Some(violation) = check_pair(transactions, a, b, order).into_iter().next() {
                return SetVerdict::Violation {
                    pattern: violation.pattern,
                    steps: violation.steps,
                };
            }
        }
    }
    check_beyond_pairs(transactions, order, STRIDE_BOUND)
}

/// The lock-order cycles of a set of transactions, starts and joins considered.
pub fn lock_cycles(transactions: &[Transaction], order: &ForkOrder) -> Cycles<(usize, usize)> {
    cycles(&nestings(transactions), |a, b| order.before(a.take_at, b.hold_at))
}
