//! How long a held thread waits: until its step is next, or the threads that could take the next one do nothing any more, or
//! its time is over.
//!
//! Idleness is judged by the kernel, since Java calls a thread runnable that waits for a socket. Without this rule a hold would
//! run into the program's own time limits.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::director::ThreadNumber;
use crate::idle::{Idle, Sleep};
use ravel_protocol::goal::Released;

/// The longest hold.
const CAP: Duration = Duration::from_millis(500);
/// The longest hold while idleness cannot be judged, as with virtual threads, which the kernel does not know.
const BLIND_CAP: Duration = Duration::from_millis(50);
/// The longest wait for an activation that excludes others, while its thread runs: letting another one in spoils the control.
const EXCLUSIVE_CAP: Duration = Duration::from_secs(10);
/// Polls in a row that must find all others idle.
const IDLE_POLLS: u32 = 3;
/// The same while any other thread of the program runs: a thread that waits for a request, a task or a safepoint is idle until a
/// running one brings it what it waits for, and on a busy machine that one must first get a processor.
const BUSY_POLLS: u32 = 32;
/// How many times as many they are, by the holds that have failed in a row: a partner that a timer brings is idle until then, and now and
/// then is worth waiting for; always would cost the program's own time limits.
const PATIENCE: [u32; 4] = [1, 4, 1, 16];
/// Polls from one look for threads that need a lock of the held one to the next.
const LOCK_POLLS: u32 = 8;
/// From one look at the others to the next.
pub const POLL: Duration = Duration::from_millis(1);
/// The part of the clock's time that counts as holding at least, while the program does nothing.
const LEAST_PART: u32 = 4;

/// Milliseconds of a hold in which the program could have gone on: a busy machine that gives it no processor does not make its holds shorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holding(pub u64);

impl Holding {
    /// Of a hold that lasted so long by the clock, in which all threads of the program together ran for so long.
    fn of(wall: Duration, ran: Duration) -> Holding {
        let counted = ran.min(wall).max(wall / LEAST_PART);
        Holding(counted.as_millis() as u64)
    }
}

/// The kernel's numbers of the program's threads, as they were seen at hooks.
#[derive(Clone, Default)]
pub struct Tasks(BTreeMap<ThreadNumber, i32>);

impl Tasks {
    /// A thread is at a hook; a virtual one is on another thread of the kernel each time.
    pub fn note(&mut self, thread: ThreadNumber) {
        self.0.insert(thread, Idle::own_task());
    }

    fn idle(&self, thread: ThreadNumber) -> Option<Idle> {
        self.0.get(&thread).map(|task| Idle::of_task(*task))
    }
}

/// One hold as it goes on.
pub struct Waiting {
    since: Instant,
    /// How long the program had run then.
    ran: Duration,
    polls: u32,
    /// Polls in a row that found the awaited threads idle.
    idle_polls: u32,
    /// Those of them, in a row, that found the whole program idle.
    quiet_polls: u32,
    most_quiet_polls: u32,
    /// None while idle threads among running ones are waited for.
    most_idle_polls: Option<u32>,
    cap: Duration,
    others: BTreeMap<ThreadNumber, Option<Idle>>,
}

impl Waiting {
    /// Begins now, after so many of the same kind have failed in a row.
    pub fn begin(failed: u64) -> Waiting {
        let patience = PATIENCE[(failed % PATIENCE.len() as u64) as usize];
        let quiet = IDLE_POLLS * patience;
        Waiting::new(quiet, Some(BUSY_POLLS.max(quiet)), CAP)
    }

    /// Of a thread that waits until no other one is in an activation that excludes its own.
    pub fn for_exclusive() -> Waiting {
        Waiting::new(IDLE_POLLS, None, EXCLUSIVE_CAP)
    }

    fn new(most_quiet_polls: u32, most_idle_polls: Option<u32>, cap: Duration) -> Waiting {
        Waiting {
            since: Instant::now(),
            ran: Idle::of_process(),
            polls: 0,
            idle_polls: 0,
            quiet_polls: 0,
            most_quiet_polls,
            most_idle_polls,
            cap,
            others: BTreeMap::new(),
        }
    }

    /// How long it has lasted.
    pub fn millis(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
    }

    /// What it has cost.
    pub fn holding(&self) -> Holding {
        Holding::of(self.since.elapsed(), Idle::of_process().saturating_sub(self.ran))
    }

    /// Whether it must end, given the threads that could take the next step; if none is known, any thread of the program could. The
    /// question whether a thread waits for a lock of the held one is asked now and then.
    pub fn must_end(
        &mut self,
        awaited: &[ThreadNumber],
        tasks: &Tasks,
        needs_lock: impl FnOnce() -> bool,
    ) -> Option<Released> {
        self.polls += 1;
        self.others.retain(|thread, _| awaited.contains(thread));
        for thread in awaited {
            self.others.entry(*thread).or_insert_with(|| tasks.idle(*thread));
        }
        // Threads that have ended come no more.
        self.others.retain(|_, other| other.as_ref().is_none_or(Idle::is_alive));
        let blind = self.others.values().any(Option::is_none);
        let cap = if blind { BLIND_CAP } else { self.cap };
        if u128::from(self.holding().0) >= cap.as_millis() {
            return Some(Released::Cap);
        }
        let unknown = self.others.is_empty();
        let mut others = self.others.values_mut().flatten();
        let known_idle = !unknown && others.all(|other| other.look().0 != Sleep::Runs);
        let quiet = (known_idle || unknown) && !Idle::others_are_ready();
        let is_idle = self.count(known_idle, quiet);
        if (is_idle || self.polls.is_multiple_of(LOCK_POLLS)) && needs_lock() {
            return Some(Released::Lock);
        }
        is_idle.then_some(Released::Idle)
    }

    /// A poll found the awaited threads idle, and the whole program: whether that was so for long enough.
    fn count(&mut self, known_idle: bool, quiet: bool) -> bool {
        self.idle_polls = if known_idle { self.idle_polls + 1 } else { 0 };
        self.quiet_polls = if quiet { self.quiet_polls + 1 } else { 0 };
        self.quiet_polls > self.most_quiet_polls || self.most_idle_polls.is_some_and(|most| self.idle_polls > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_holds_are_patient_enough_for_a_timer_and_none_before_one_has_failed() {
        let polls: Vec<u32> = (0..5).map(|failed| Waiting::begin(failed).most_quiet_polls).collect();
        assert_eq!(polls, [3, 12, 3, 48, 3]);
    }

    #[test]
    fn a_program_that_gets_no_processor_is_held_for_longer() {
        let of = |wall, ran| Holding::of(Duration::from_millis(wall), Duration::from_millis(ran)).0;
        assert_eq!([of(500, 900), of(500, 300), of(500, 0)], [500, 300, 125]);
    }

    #[test]
    fn idle_threads_are_waited_for_longer_while_others_run() {
        let polls = |mut waiting: Waiting, quiet: bool| (1..=200).find(|_| waiting.count(true, quiet));
        assert_eq!(polls(Waiting::begin(0), true), Some(4));
        assert_eq!(polls(Waiting::begin(0), false), Some(33));
        assert_eq!(polls(Waiting::begin(3), false), Some(49));
        assert_eq!(polls(Waiting::for_exclusive(), true), Some(4));
        assert_eq!(polls(Waiting::for_exclusive(), false), None);
    }
}
