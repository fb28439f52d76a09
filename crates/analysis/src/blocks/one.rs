//! Blocks of one variable and the patterns UP1 to UP4.
//!
//! **Paper.** Wang and Stoller, *Run-Time Analysis for Atomicity*, section 5.2: blocks by B1(a), B1(b), B2 and B3;
//! Theorems 5.2 and 5.3.
//!
//! **Departures.** In UP1 the read between the two writes must be uninitialised. The paper reaches the same by comparing
//! blocks and not events (example 15): a read that follows its own transaction's write sees the other's only if that
//! write came between, and then UP3 finds it. Blocks with equal content at points that synchronisation cannot tell
//! apart are one block, as in example 14.
//!
//! **Promises.** For transactions with one common variable: exact, with the exact feasibility test even where a deadlock
//! is possible.
//!
//! **Cost.** O(E L) to build; blocks are compared pairwise per location.

use ravel_trace::LocationId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::feasibility::{Pair, Side};
use crate::transaction::{Access, HeldLocks, Kind, Transaction};

/// Two accesses of one transaction to one location whose data flow another transaction must not disturb; or the only
/// access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The earlier access.
    pub first: Access,
    /// The later access; none if the transaction accesses the location once.
    pub second: Option<Access>,
    /// The locks held from the first to the second.
    pub throughout: HeldLocks,
}

/// The unserializable pattern that two blocks form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unserializable {
    /// A read between two writes.
    Up1,
    /// A write between two reads.
    Up2,
    /// A write between a write and a read.
    Up3,
    /// A final write between a read and a write.
    Up4,
}

impl Unserializable {
    /// The accesses in order, the other transaction's with a prime.
    pub fn name(self) -> &'static str {
        match self {
            Unserializable::Up1 => "W R' W",
            Unserializable::Up2 => "R W' R",
            Unserializable::Up3 => "W W' R",
            Unserializable::Up4 => "R W' W",
        }
    }
}

/// The blocks of a transaction, by location.
pub fn blocks(transaction: &Transaction) -> FxHashMap<LocationId, Vec<Block>> {
    let mut at: FxHashMap<LocationId, Vec<Access>> = FxHashMap::default();
    for access in transaction.accesses() {
        at.entry(access.location).or_default().push(access);
    }
    at.into_iter()
        .map(|(location, accesses)| (location, blocks_of(&accesses)))
        .collect()
}

fn blocks_of(accesses: &[Access]) -> Vec<Block> {
    if let [only] = accesses {
        return vec![Block {
            first: only.clone(),
            second: None,
            throughout: HeldLocks::default(),
        }];
    }
    let mut seen = FxHashSet::default();
    let mut blocks = Vec::new();
    let mut add = |first: &Access, second: &Access| {
        let key = |access: &Access| (access.kind, access.uninitialized, access.last, access.epoch);
        if seen.insert((key(first), key(second))) {
            let throughout = first.held.still_held(&second.held);
            blocks.push(Block {
                first: first.clone(),
                second: Some(second.clone()),
                throughout,
            });
        }
    };
    let (mut last_write, mut last_read): (Option<&Access>, Option<&Access>) = (None, None);
    for access in accesses {
        if let Some(first) = last_write.or(last_read) {
            add(first, access);
        }
        match access.kind {
            Kind::Read => last_read = Some(access),
            Kind::Write => last_write = Some(access),
        }
    }
    if let Some(last) = accesses.iter().rev().find(|access| access.last) {
        // Reads of one epoch are equal, so the first of each is enough.
        let mut epochs = FxHashSet::default();
        for read in accesses
            .iter()
            .filter(|read| read.uninitialized && read.step < last.step)
        {
            if epochs.insert(read.epoch) {
                add(read, last);
            }
        }
    }
    blocks
}

/// The pattern that an access of another transaction between two of this one makes.
pub(super) fn pattern(first: &Access, between: &Access, second: &Access) -> Option<Unserializable> {
    match (first.kind, between.kind, second.kind) {
        (Kind::Write, Kind::Read, Kind::Write) if between.uninitialized => Some(Unserializable::Up1),
        (Kind::Read, Kind::Write, Kind::Read) => Some(Unserializable::Up2),
        (Kind::Write, Kind::Write, Kind::Read) => Some(Unserializable::Up3),
        (Kind::Read, Kind::Write, Kind::Write) if between.last => Some(Unserializable::Up4),
        _ => None,
    }
}

/// An unserializable interleaving of two transactions: which pattern, and the steps in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clash {
    /// The pattern.
    pub pattern: Unserializable,
    /// The steps in the order in which they must happen.
    pub steps: Vec<(Side, usize)>,
}

/// A way in which two blocks are not atomic, if there is one.
pub fn clash(pair: &Pair<'_>, a: &Block, b: &Block) -> Option<Clash> {
    one_side(pair, Side::First, a, b).or_else(|| one_side(pair, Side::Second, b, a))
}

fn one_side(pair: &Pair<'_>, side: Side, outer: &Block, inner: &Block) -> Option<Clash> {
    let second = outer.second.as_ref()?;
    let other = if side == Side::First { Side::Second } else { Side::First };
    std::iter::once(&inner.first).chain(&inner.second).find_map(|between| {
        let pattern = pattern(&outer.first, between, second)?;
        let steps = vec![(side, outer.first.step), (other, between.step), (side, second.step)];
        pair.feasible(&steps).then_some(Clash { pattern, steps })
    })
}

/// All clashes of two transactions of different threads over one variable each, in order of location.
pub fn clashes(a: &Transaction, b: &Transaction, pair: &Pair<'_>) -> Vec<Clash> {
    let (mine, theirs) = (blocks(a), blocks(b));
    let mut locations: Vec<_> = mine.keys().filter(|location| theirs.contains_key(location)).collect();
    locations.sort_unstable();
    let mut found = Vec::new();
    for location in locations {
        for block in &mine[location] {
            found.extend(theirs[location].iter().filter_map(|other| clash(pair, block, other)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::definitions::TransactionSet;

    type ShapeOfBlock = (Kind, Option<Kind>, bool, bool, usize, usize, usize);

    fn shapes(text: &str) -> Vec<ShapeOfBlock> {
        let set = TransactionSet::parse(text).unwrap();
        let all: Vec<Block> = blocks(&set.transactions[0]).into_values().flatten().collect();
        let locks = |held: &HeldLocks| held.holds().len();
        all.iter()
            .map(|b| {
                let second = b.second.as_ref();
                (
                    b.first.kind,
                    second.map(|s| s.kind),
                    b.first.last,
                    second.is_some_and(|s| s.last),
                    locks(&b.first.held),
                    second.map_or(0, |s| locks(&s.held)),
                    locks(&b.throughout),
                )
            })
            .collect()
    }

    #[test]
    fn example_11_has_the_two_blocks_of_12() {
        let expected = [
            (Kind::Read, Some(Kind::Write), false, true, 1, 2, 1),
            (Kind::Write, Some(Kind::Read), true, false, 2, 2, 2),
        ];
        assert_eq!(shapes("t: acq(l1) r(x) acq(l2) w(x) r(x) rel(l2) rel(l1)"), expected);
    }

    #[test]
    fn example_14_has_one_block() {
        let expected = [(Kind::Read, Some(Kind::Read), false, false, 1, 1, 1)];
        assert_eq!(shapes("t: acq(l1) r(x) r(x) r(x) r(x) r(x) r(x) rel(l1)"), expected);
    }
}
