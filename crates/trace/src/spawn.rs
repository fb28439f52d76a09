//! How threads are numbered among those that one thread has started. The numbers make the path by which another run finds the same thread, so
//! they must not depend on chance.

use std::ops::Range;

/// Workers that a pool starts when it is busy, in whichever thread finds it so. They must not move the numbers of the threads that the program
/// itself starts, and neither their number nor their path depends on who started them: pool by pool, in the order in which they start.
pub const ON_DEMAND: Range<u32> = 1 << 31..ADOPTED;
/// Threads of the JVM that come to run code of the program are numbered from here, as children of the first thread.
pub const ADOPTED: u32 = 0xC000_0000;
/// Threads that run when the JVM ends are numbered from here, in the order in which they were registered.
pub const HOOKS: u32 = 0xE000_0000;

/// The number of the common pool of fork and join.
pub const COMMON: u32 = 0;
/// The number of the workers of Kotlin's coroutines.
pub const COROUTINES: u32 = 1;
/// The number of the threads of `Cleaner`s.
pub const CLEANERS: u32 = 2;
/// The number of the thread that starts delayed tasks.
pub const DELAYS: u32 = 3;
/// The number of the program's first pool of fork and join.
pub const FIRST: u32 = 4;
/// Pools that are told apart; further ones share the last number.
pub const MOST_POOLS: u32 = 1 << 10;
/// Workers of a pool that are told apart.
const MOST_WORKERS: u32 = 1 << 20;

/// The number of a worker of a pool.
pub fn worker(pool: u32, count: u32) -> u32 {
    ON_DEMAND.start + pool.min(MOST_POOLS - 1) * MOST_WORKERS + count % MOST_WORKERS
}

/// Whether a thread has a number of [`worker`].
pub fn is_worker(number: u32) -> bool {
    ON_DEMAND.contains(&number)
}

/// Whether it is a worker of a pool of fork and join: without a task it does nothing by itself.
pub fn is_fork_join(number: u32) -> bool {
    is_worker(number) && !(COROUTINES..FIRST).contains(&((number - ON_DEMAND.start) / MOST_WORKERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_told_from_all_other_threads() {
        for (pool, count) in [
            (0, 0),
            (0, MOST_WORKERS - 1),
            (MOST_POOLS - 1, MOST_WORKERS - 1),
            (u32::MAX, 7),
        ] {
            assert!(is_worker(worker(pool, count)), "{pool} {count}");
        }
        assert_ne!(worker(1, 0), worker(0, 1));
        for number in [0, 5, ON_DEMAND.start - 1, ADOPTED, HOOKS] {
            assert!(!is_worker(number), "{number}");
        }
        assert!(is_fork_join(worker(0, 3)) && is_fork_join(worker(4, 0)));
        assert!(!is_fork_join(worker(2, 0)) && !is_fork_join(3));
    }
}
