//! Who holds which lock and who wants one, in a forced run: a deadlock is known when its circle closes.

use rustc_hash::FxHashMap;

/// The locks of a run, by the numbers of threads and locks.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// Owner and depth.
    held: FxHashMap<u64, (u32, u32)>,
    wanted: FxHashMap<u32, u64>,
}

impl Locks {
    /// A thread is about to take a lock and will block if it is not free: the threads of the circle that it closes, if it does.
    pub fn wants(&mut self, thread: u32, lock: u64) -> Option<Vec<u32>> {
        if self.holder(lock) == Some(thread) {
            return None;
        }
        self.wanted.insert(thread, lock);
        let (mut chain, mut next) = (vec![thread], lock);
        loop {
            let owner = self.holder(next)?;
            if owner == thread {
                return Some(chain);
            }
            if chain.contains(&owner) {
                return None;
            }
            chain.push(owner);
            next = *self.wanted.get(&owner)?;
        }
    }

    /// A thread has got a lock.
    pub fn got(&mut self, thread: u32, lock: u64) {
        self.wanted.remove(&thread);
        let entry = self.held.entry(lock).or_insert((thread, 0));
        if entry.0 == thread {
            entry.1 += 1;
        } else {
            *entry = (thread, 1);
        }
    }

    /// A thread gives a lock up, one level of it or all.
    pub fn gives(&mut self, thread: u32, lock: u64, all: bool) {
        if let Some((owner, depth)) = self.held.get_mut(&lock)
            && *owner == thread
        {
            *depth -= 1;
            if *depth == 0 || all {
                self.held.remove(&lock);
            }
        }
    }

    /// Who holds a lock.
    pub fn holder(&self, lock: u64) -> Option<u32> {
        self.held.get(&lock).map(|(owner, _)| *owner)
    }

    /// The other thread that holds the lock that a thread wants.
    pub fn awaited(&self, thread: u32) -> Option<u32> {
        self.wanted(thread).map(|(_, holder)| holder)
    }

    /// The lock that a thread wants and another one holds, and its holder.
    pub fn wanted(&self, thread: u32) -> Option<(u64, u32)> {
        let lock = *self.wanted.get(&thread)?;
        let holder = self.holder(lock)?;
        (holder != thread).then_some((lock, holder))
    }

    /// How many locks a thread holds.
    pub fn count(&self, thread: u32) -> usize {
        self.held.values().filter(|(owner, _)| *owner == thread).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_circle_is_a_deadlock() {
        let mut locks = Locks::default();
        locks.got(0, 10);
        locks.got(1, 20);
        locks.got(0, 10);
        assert_eq!(locks.wants(0, 20), None);
        assert_eq!(locks.wants(1, 10), Some(vec![1, 0]));
        let mut free = Locks::default();
        free.got(0, 10);
        free.gives(0, 10, false);
        free.got(1, 20);
        assert_eq!(free.wants(0, 20), None);
        assert_eq!(free.wants(1, 10), None);
    }

    #[test]
    fn a_lock_is_awaited_until_it_is_free_or_taken() {
        let mut locks = Locks::default();
        locks.got(1, 10);
        locks.got(1, 10);
        assert_eq!((locks.awaited(0), locks.count(1)), (None, 1));
        locks.wants(0, 10);
        assert_eq!(locks.awaited(0), Some(1));
        locks.gives(1, 10, false);
        assert_eq!(locks.awaited(0), Some(1));
        locks.gives(1, 10, false);
        assert_eq!(locks.awaited(0), None);
        locks.got(0, 10);
        assert_eq!((locks.awaited(0), locks.count(0)), (None, 1));
    }
}
