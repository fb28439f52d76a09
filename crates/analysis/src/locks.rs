//! Interned sets of locks: every set that some thread ever held has one small id, so that equality is a comparison of
//! ids and disjointness, nearly always, one comparison of two words.

use ravel_trace::{LockId, Mode};
use rustc_hash::FxHashMap;

/// An interned set of held locks. 0 is the empty set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LocksetId(pub u32);

impl LocksetId {
    /// No lock held.
    pub const EMPTY: LocksetId = LocksetId(0);

    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A lock and how it is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HeldLock {
    /// Which.
    pub lock: LockId,
    /// Alone or with other readers.
    pub mode: Mode,
}

/// One bit per lock, many locks per bit: no common bit means no common lock.
fn signature(locks: &[HeldLock]) -> u64 {
    locks
        .iter()
        .fold(0, |s, h| s | 1 << (h.lock.0.wrapping_mul(0x9E37_79B9) >> 26))
}

/// What each set is, as far as readers are concerned.
#[derive(Debug)]
pub struct LockTable {
    sets: Vec<Box<[HeldLock]>>,
    signatures: Vec<u64>,
}

impl Default for LockTable {
    fn default() -> Self {
        LockTable {
            sets: vec![Box::default()],
            signatures: vec![0],
        }
    }
}

/// All sets seen so far.
#[derive(Debug)]
pub struct Locksets {
    table: LockTable,
    ids: FxHashMap<Box<[HeldLock]>, LocksetId>,
    with: FxHashMap<(LocksetId, HeldLock), LocksetId>,
    without: FxHashMap<(LocksetId, HeldLock), LocksetId>,
    both: FxHashMap<(LocksetId, LocksetId, Mode), LocksetId>,
}

impl Default for Locksets {
    fn default() -> Self {
        let empty: Box<[HeldLock]> = Box::default();
        Locksets {
            table: LockTable::default(),
            ids: FxHashMap::from_iter([(empty, LocksetId::EMPTY)]),
            with: FxHashMap::default(),
            without: FxHashMap::default(),
            both: FxHashMap::default(),
        }
    }
}

impl std::ops::Deref for Locksets {
    type Target = LockTable;

    #[inline]
    fn deref(&self) -> &LockTable {
        &self.table
    }
}

impl Locksets {
    /// The id of a set given in any order.
    pub fn intern(&mut self, mut locks: Vec<HeldLock>) -> LocksetId {
        locks.sort_unstable();
        locks.dedup();
        let locks = locks.into_boxed_slice();
        if let Some(&id) = self.ids.get(&locks) {
            return id;
        }
        let id = LocksetId(u32::try_from(self.table.sets.len()).expect("fewer than 2^32 sets of locks"));
        self.table.signatures.push(signature(&locks));
        self.table.sets.push(locks.clone());
        self.ids.insert(locks, id);
        id
    }

    /// The locks of a set that are held for reading alone.
    pub fn for_reading(&self, set: LocksetId) -> impl Iterator<Item = LockId> {
        let locks = self.locks(set);
        let alone = |lock: LockId| locks.iter().all(|h| h.lock != lock || h.mode == Mode::Shared);
        locks.iter().map(|h| h.lock).filter(move |lock| alone(*lock))
    }

    /// The set with one lock more.
    pub fn with(&mut self, set: LocksetId, held: HeldLock) -> LocksetId {
        if let Some(&id) = self.with.get(&(set, held)) {
            return id;
        }
        let mut locks = self.locks(set).to_vec();
        locks.push(held);
        let id = self.intern(locks);
        self.with.insert((set, held), id);
        id
    }

    /// The set with one lock less.
    pub fn without(&mut self, set: LocksetId, held: HeldLock) -> LocksetId {
        if let Some(&id) = self.without.get(&(set, held)) {
            return id;
        }
        let locks = self.locks(set).iter().copied().filter(|h| *h != held).collect();
        let id = self.intern(locks);
        self.without.insert((set, held), id);
        id
    }

    /// What protects both of two accesses. `weakest` is the mode that still protects: `Shared` for reads (any hold
    /// will do), `Exclusive` for writes. Used by the lockset analysis, whose candidate sets only shrink.
    pub fn common(&mut self, a: LocksetId, b: LocksetId, weakest: Mode) -> LocksetId {
        if a == LocksetId::EMPTY || b == LocksetId::EMPTY {
            return LocksetId::EMPTY;
        }
        if a == b && weakest == Mode::Shared {
            return a;
        }
        if let Some(&id) = self.both.get(&(a, b, weakest)) {
            return id;
        }
        let second = self.locks(b).to_vec();
        let locks = self
            .locks(a)
            .iter()
            .copied()
            .filter(|h| {
                second
                    .iter()
                    .any(|g| g.lock == h.lock && (weakest == Mode::Shared || g.mode == Mode::Exclusive))
            })
            .collect();
        let id = self.intern(locks);
        self.both.insert((a, b, weakest), id);
        id
    }
}

impl LockTable {
    /// The locks of a set, in order of their ids.
    #[inline]
    pub fn locks(&self, set: LocksetId) -> &[HeldLock] {
        &self.sets[set.index()]
    }

    /// Takes over the entries that another table has gained since this copy of it was made.
    pub(crate) fn extend_from(&mut self, other: &LockTable) {
        self.sets.extend_from_slice(&other.sets[self.sets.len()..]);
        self.signatures
            .extend_from_slice(&other.signatures[self.signatures.len()..]);
    }

    /// Whether two threads can hold these sets at the same time: no lock is in both, or only as a read lock.
    #[inline]
    pub fn compatible(&self, a: LocksetId, b: LocksetId) -> bool {
        self.signatures[a.index()] & self.signatures[b.index()] == 0 || self.compatible_slowly(a, b)
    }

    /// Whether all locks of the first set are in the second, held at least as strongly.
    #[inline]
    pub fn is_subset(&self, a: LocksetId, b: LocksetId) -> bool {
        a == LocksetId::EMPTY
            || self.signatures[a.index()] & !self.signatures[b.index()] == 0
                && self.locks(a).iter().all(|h| {
                    let held = |g: &HeldLock| g.lock == h.lock && (h.mode == Mode::Shared || g.mode == Mode::Exclusive);
                    self.locks(b).iter().any(held)
                })
    }

    fn compatible_slowly(&self, a: LocksetId, b: LocksetId) -> bool {
        !self.locks(a).iter().any(|h| {
            self.locks(b)
                .iter()
                .any(|g| g.lock == h.lock && (g.mode == Mode::Exclusive || h.mode == Mode::Exclusive))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(lock: u32, mode: Mode) -> HeldLock {
        HeldLock {
            lock: LockId(lock),
            mode,
        }
    }

    #[test]
    fn equal_sets_have_equal_ids_whatever_the_order_of_acquisition() {
        let mut sets = Locksets::default();
        let a = sets.with(LocksetId::EMPTY, held(1, Mode::Exclusive));
        let ab = sets.with(a, held(2, Mode::Exclusive));
        let b = sets.with(LocksetId::EMPTY, held(2, Mode::Exclusive));
        let ba = sets.with(b, held(1, Mode::Exclusive));
        assert_eq!(ab, ba);
        assert_eq!(sets.without(ba, held(2, Mode::Exclusive)), a);
    }

    #[test]
    fn two_readers_of_one_lock_do_not_exclude_each_other() {
        let mut sets = Locksets::default();
        let read = sets.with(LocksetId::EMPTY, held(1, Mode::Shared));
        let write = sets.with(LocksetId::EMPTY, held(1, Mode::Exclusive));
        assert!(sets.compatible(read, read));
        assert!(!sets.compatible(read, write));
        assert!(!sets.compatible(write, write));
        assert!(sets.compatible(LocksetId::EMPTY, write));
    }

    #[test]
    fn a_read_lock_does_not_protect_a_write() {
        let mut sets = Locksets::default();
        let read = sets.with(LocksetId::EMPTY, held(1, Mode::Shared));
        let write = sets.with(LocksetId::EMPTY, held(1, Mode::Exclusive));
        assert_eq!(sets.common(write, read, Mode::Shared), write);
        assert_eq!(sets.common(write, read, Mode::Exclusive), LocksetId::EMPTY);
    }
}
