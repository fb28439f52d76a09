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
/// Polls in a row that must find all others idle.
const IDLE_POLLS: u32 = 3;
/// How many times as many they are, by the holds that have failed in a row: a partner that a timer brings is idle until then, and now and
/// then is worth waiting for; always would cost the program's own time limits.
const PATIENCE: [u32; 4] = [1, 4, 1, 16];
/// Polls from one look for threads that need a lock of the held one to the next.
const LOCK_POLLS: u32 = 8;
/// From one look at the others to the next.
pub const POLL: Duration = Duration::from_millis(1);
/// Holding that a goal may cost in one run.
pub const GOAL_MILLIS: u64 = 3_000;
/// Holding that all goals together may cost in one run.
pub const RUN_MILLIS: u64 = 5_000;

/// The kernel's numbers of the program's threads, as they were seen at hooks.
#[derive(Default)]
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
    polls: u32,
    idle_polls: u32,
    most_idle_polls: u32,
    others: BTreeMap<ThreadNumber, Option<Idle>>,
}

impl Waiting {
    /// Begins now, after so many of the same kind have failed in a row.
    pub fn begin(failed: u64) -> Waiting {
        let patience = PATIENCE[(failed % PATIENCE.len() as u64) as usize];
        Waiting {
            since: Instant::now(),
            polls: 0,
            idle_polls: 0,
            most_idle_polls: IDLE_POLLS * patience,
            others: BTreeMap::new(),
        }
    }

    /// How long it has lasted.
    pub fn millis(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
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
        if self.since.elapsed() >= if blind { BLIND_CAP } else { CAP } {
            return Some(Released::Cap);
        }
        let idle = match self.others.is_empty() {
            true => !Idle::others_are_ready(),
            false => self
                .others
                .values_mut()
                .flatten()
                .all(|other| other.look().0 != Sleep::Runs),
        };
        self.idle_polls = if idle { self.idle_polls + 1 } else { 0 };
        let is_idle = self.idle_polls > self.most_idle_polls;
        if (is_idle || self.polls.is_multiple_of(LOCK_POLLS)) && needs_lock() {
            return Some(Released::Lock);
        }
        is_idle.then_some(Released::Idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_holds_are_patient_enough_for_a_timer_and_none_before_one_has_failed() {
        let polls: Vec<u32> = (0..5).map(|failed| Waiting::begin(failed).most_idle_polls).collect();
        assert_eq!(polls, [3, 12, 3, 48, 3]);
    }
}
