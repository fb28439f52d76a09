//! The watch: takes the turn from a thread that blocks or does nothing, and knows when the whole program waits for nothing.
//!
//! It never asks a thread, since one that blocks cannot answer: it reads its position, its locks, and what the kernel says of it.

use std::time::{Duration, Instant};

use ravel_protocol::Cause;

use ravel_trace::spawn;

use super::{Baton, BatonState, View, worker_number};
use crate::idle::{Idle, Sleep};

/// How long the thread whose turn it is may take from one point to the next while it can run.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long it may take, step by step, to leave its unit: some never do.
const LEAVING: Duration = Duration::from_secs(8);
/// How long it may sleep or wait with a time limit: that may end by itself.
const DOZE: Duration = Duration::from_millis(1500);
/// How long it may wait for something else: other threads, input.
const BLOCKED: Duration = Duration::from_millis(60);
/// The same while another thread could run, which may be what it waits for.
const STARVED: Duration = Duration::from_secs(3);
/// How long it may wait when it has done all that its turn covers.
const DONE: Duration = Duration::from_millis(25);
/// The same if it sleeps or waits with a time limit: an idle worker of a pool may do so for a minute.
const DONE_DOZING: Duration = Duration::from_millis(150);
/// How long it may alternate between short sleeps and wake-ups after its turn's last point. The thread of a timer does so until the program ends.
const RESTLESS: Duration = Duration::from_millis(400);
/// How long the schedule waits for a thread that does not exist yet, if all threads wait.
const STARTS: Duration = Duration::from_millis(250);
/// How long all threads may wait for nothing before the program counts as hung.
const HUNG: Duration = Duration::from_millis(2500);

impl Baton {
    /// Takes the turn from a thread that blocks or does nothing. True if the whole program waits for nothing.
    pub fn watch(&self) -> bool {
        let mut state = self.lock();
        if state.looked.elapsed() < Duration::from_millis(5) {
            return false;
        }
        state.looked = Instant::now();
        if state.is_over() {
            return state.is_hung();
        }
        let Some((thread, turn)) = state.turn() else {
            return false;
        };
        let is_fork_join = worker_number(thread).is_some_and(spawn::is_fork_join);
        let Some(view) = state.threads.get(thread).copied() else {
            if state.since.elapsed() > PATIENCE || state.since.elapsed() > STARTS && state.can_start_none() {
                self.skip(&mut state, 0, Cause::NotStarted);
            }
            return false;
        };
        // SAFETY: blocks are never freed; a stale position only delays the verdict.
        let block = unsafe { &*view.block };
        let (position, number) = (block.position(), block.thread);
        let now = (state.current, position);
        if now != state.seen {
            state.seen = now;
            state.since = Instant::now();
        }
        let since = state.since.elapsed();
        let (sleep, idle) = state.look(number, since);
        // Of a thread that does not run, if it matters.
        let (_, depth) = block.frames();
        // Without a task a worker waits for one, with a time limit or not.
        let sleep = match sleep {
            Sleep::Dozes if is_fork_join && depth == 0 => Sleep::Waits,
            sleep => sleep,
        };
        let inside = turn.leave.is_some_and(|leave| state.seems_inside(number, depth, leave));
        let done = position >= turn.until && !inside;
        if position >= turn.until && inside {
            if state.leaving.0 != state.current {
                state.leaving = (state.current, Instant::now());
            } else if state.leaving.1.elapsed() > LEAVING {
                self.skip(&mut state, position, Cause::StaysInUnit);
                return false;
            }
        }
        let limit = match sleep {
            Sleep::Runs => PATIENCE,
            Sleep::Dozes if done => DONE_DOZING,
            Sleep::Dozes => DOZE,
            Sleep::Waits | Sleep::Outside if done => DONE,
            // It may wait for the end of what such a thread does after its nap.
            Sleep::Waits | Sleep::Outside if state.is_one_dozing() => DOZE,
            Sleep::Waits | Sleep::Outside => BLOCKED,
        };
        // A thread that wakes up again and again but makes no step has had enough time as well.
        let late = since > PATIENCE || done && sleep != Sleep::Runs && since > RESTLESS;
        let waited = idle.min(since);
        if late || sleep != Sleep::Runs && waited > limit {
            // What it waits for may be the work of a thread that could run but gets no processor, on a busy machine.
            let blocked = matches!(sleep, Sleep::Waits | Sleep::Outside) && state.locks.awaited(number).is_none();
            if blocked && !done && waited < STARVED && Idle::others_are_ready() {
                return false;
            }
            if done {
                if sleep == Sleep::Dozes {
                    state.dozing.insert(number);
                }
                self.next(&mut state);
            } else {
                let wanted = state.locks.wanted(number);
                let lock = wanted.map(|(lock, holder)| state.wanted_lock(lock, holder));
                let cause = match sleep {
                    _ if lock.is_some() => Cause::WaitedForThread { lock },
                    Sleep::Waits => Cause::WaitedForThread { lock },
                    Sleep::Runs => Cause::MadeNoStep,
                    Sleep::Dozes if late => Cause::MadeNoStep,
                    Sleep::Dozes => Cause::Slept,
                    Sleep::Outside => Cause::WaitedOutside,
                };
                self.skip(&mut state, position, cause);
            }
        }
        false
    }

    /// The JVM says that no thread will ever go on.
    pub fn stands_still(&self) {
        self.lock().note_hang();
    }
}

impl BatonState {
    /// What a thread does that has made no step for a time, and for how long it has done nothing else. Some JVMs wake a thread that
    /// waits for a monitor every second, and the kernel knows of no virtual thread: that a thread wants a lock that
    /// another one holds says more.
    fn look(&mut self, number: u32, since: Duration) -> (Sleep, Duration) {
        let seen = match self.live.get_mut(&number) {
            Some(Some(idle)) => Some(idle.look()),
            _ => None,
        };
        let Some(holder) = self.locks.awaited(number) else {
            return seen.unwrap_or((Sleep::Runs, since));
        };
        if matches!(seen, Some((Sleep::Runs, _))) {
            return (Sleep::Runs, Duration::ZERO);
        }
        let holder = self.live.get_mut(&holder).and_then(Option::as_mut).map(Idle::look);
        match holder {
            Some((Sleep::Runs, _)) => (Sleep::Dozes, since),
            _ => (Sleep::Waits, since),
        }
    }

    /// Whether no thread can start another one as it is: each waits for its turn, for something else, or is a worker without a task.
    fn can_start_none(&mut self) -> bool {
        let idle_worker = |view: &View, path: &str| {
            // SAFETY: blocks are never freed; a stale depth only delays the verdict.
            let (_, depth) = unsafe { &*view.block }.frames();
            depth == 0 && worker_number(path).is_some_and(spawn::is_fork_join)
        };
        for (number, idle) in &mut self.live {
            if self.parked.contains(number) {
                continue;
            }
            let Some((sleep, time)) = idle.as_mut().map(Idle::look) else {
                return false;
            };
            let path = self.paths.get(number);
            let view = path.and_then(|path| Some((self.threads.get(path)?, path)));
            let limit = match sleep {
                Sleep::Runs => return false,
                Sleep::Dozes if !view.is_some_and(|(view, path)| idle_worker(view, path)) => DOZE,
                _ => BLOCKED,
            };
            if time < limit {
                return false;
            }
        }
        !Idle::others_are_ready()
    }

    /// Whether a thread whose turn ended while it dozed still does, or has just woken up.
    fn is_one_dozing(&mut self) -> bool {
        let live = &mut self.live;
        let mut dozing = self.dozing.iter().filter(|number| !self.parked.contains(number));
        dozing.any(|number| {
            let seen = live.get_mut(number).and_then(Option::as_mut).map(Idle::look);
            seen.is_some_and(|(sleep, _)| matches!(sleep, Sleep::Runs | Sleep::Dozes))
        })
    }

    /// Whether every thread waits for another one and has for a while.
    fn is_hung(&mut self) -> bool {
        if self.hung.is_some() || self.live.is_empty() {
            return false;
        }
        // Each is looked at every time: how long it has waited is known from its first look on.
        let mut all_wait = true;
        for (number, idle) in &mut self.live {
            let seen = idle.as_mut().map(Idle::look);
            let waits = matches!(seen, Some((Sleep::Waits, since)) if since > HUNG);
            // A thread that waits for a lock waits as long as the lock's holder does.
            let blocked = !matches!(seen, Some((Sleep::Runs, _))) && self.locks.awaited(*number).is_some();
            all_wait &= waits || blocked;
        }
        if !all_wait || Idle::has_children() {
            return false;
        }
        self.note_hang();
        true
    }

    /// All threads that live wait for nothing.
    fn note_hang(&mut self) {
        let mut numbers: Vec<u32> = self.live.keys().copied().collect();
        numbers.sort_unstable();
        self.hung = Some(numbers.iter().map(|number| self.name(*number)).collect());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use ravel_protocol::{Verdict, WantedLock};

    use super::super::tests::{block, lost, schedule};
    use super::*;

    /// Watches until the turn is taken away; how long that took.
    fn watched(baton: &Baton) -> Duration {
        let start = Instant::now();
        while baton.lock().current == 0 && start.elapsed() < Duration::from_secs(20) {
            baton.watch();
            std::thread::sleep(Duration::from_millis(2));
        }
        start.elapsed()
    }

    /// A thread that begins, and then only wakes up every now and then.
    fn restless(baton: &Baton) -> Duration {
        dozing(baton, Duration::from_millis(20))
    }

    /// The same with such naps.
    fn dozing(baton: &Baton, nap: Duration) -> Duration {
        let (end, ended) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                baton.begin(0, "restless", false);
                let _ = begun.send(());
                while ended.recv_timeout(nap) == Err(mpsc::RecvTimeoutError::Timeout) {}
            });
            let _ = has_begun.recv();
            let taken = watched(baton);
            drop(end);
            taken
        })
    }

    #[test]
    fn a_thread_that_wakes_up_only_to_look_for_a_lock_waits() {
        let baton = Baton::new(schedule(&[("main", 5, None)]));
        let (main, child) = (block(0, 2), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.got(&child, 7);
        baton.wants(&main, 7);
        let taken = restless(&baton);
        assert!(taken < PATIENCE, "{taken:?}");
        let lock = Some(WantedLock {
            lock: 7,
            holder: "main/0".into(),
        });
        let cause = Cause::WaitedForThread { lock };
        assert_eq!(baton.verdict(), lost(0, "main", 2, 5, cause));
    }

    #[test]
    fn a_standstill_that_the_jvm_sees_is_the_verdict_once_all_turns_are_over() {
        let baton = Baton::new(schedule(&[]));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        std::thread::scope(|scope| {
            scope.spawn(|| baton.begin(0, "main", false));
        });
        baton.stands_still();
        let hang = Verdict::Hang {
            threads: vec!["main".into()],
            slip: None,
        };
        assert_eq!(baton.verdict(), hang);
    }

    #[test]
    fn a_thread_that_naps_after_its_turn_keeps_it_only_shortly_and_who_waits_then_has_more_time() {
        let baton = Baton::new(schedule(&[("main", 2, None), ("main/0", 5, None)]));
        let (main, child) = (block(0, 2), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        let taken = dozing(&baton, DOZE);
        assert!(taken < DOZE, "{taken:?}");
        let mut state = baton.lock();
        assert!(state.slip.is_none() && state.dozing.contains(&0));
        // It has ended by now.
        state.live.remove(&0);
        assert!(!state.is_one_dozing());
    }

    #[test]
    fn a_thread_that_naps_again_and_again_after_its_turn_keeps_it_only_shortly() {
        let baton = Baton::new(schedule(&[("main", 2, None), ("main/0", 5, None)]));
        let (main, child) = (block(0, 2), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        let taken = restless(&baton);
        assert!(taken < PATIENCE / 2, "{taken:?}");
        assert!(baton.lock().slip.is_none());
    }

    #[test]
    fn a_worker_that_no_thread_starts_is_not_waited_for_long() {
        let worker = format!("main/{}", spawn::worker(spawn::COMMON, 1));
        let baton = Baton::new(schedule(&[(&worker, 2, None), ("main", 5, None)]));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        baton.lock().live.insert(0, None);
        baton.lock().parked.insert(0);
        let taken = watched(&baton);
        assert!(taken >= STARTS && taken < PATIENCE / 2, "{taken:?}");
        assert_eq!(baton.verdict(), {
            let thread = worker.clone();
            Verdict::Failed {
                slip: ravel_protocol::Slip {
                    turn: 0,
                    thread,
                    at: 0,
                    until: 2,
                    cause: Cause::NotStarted,
                },
            }
        });
    }

    #[test]
    fn a_thread_that_may_still_start_a_worker_is_waited_for() {
        let baton = Baton::new(schedule(&[("main/0", 2, None)]));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        // Of a virtual thread the kernel knows nothing.
        baton.lock().live.insert(0, None);
        assert!(!baton.lock().can_start_none());
    }

    #[test]
    fn threads_that_hang_are_known_to_after_the_time_of_one() {
        let baton = Baton::new(schedule(&[]));
        let (end, ended) = mpsc::channel::<()>();
        let ended = std::sync::Mutex::new(ended);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let (baton, ended) = (&baton, &ended);
                scope.spawn(move || {
                    baton.begin(number, "waits", false);
                    let _ = ended.lock().map(|ended| ended.recv());
                });
            }
            while baton.lock().live.len() < 3 {
                std::thread::yield_now();
            }
            // Another test of this process may have a child, which is a reason to go on: how long each has waited is known all the same.
            let start = Instant::now();
            while !baton.watch() && start.elapsed() < HUNG * 8 / 5 {
                std::thread::sleep(Duration::from_millis(2));
            }
            let mut state = baton.lock();
            let waited = |idle: &mut Option<Idle>| idle.as_mut().is_some_and(|idle| idle.look().1 >= HUNG);
            let all = state.hung.is_some() || state.live.values_mut().all(waited);
            drop(end);
            assert!(all);
        });
    }

    #[test]
    fn a_thread_that_wakes_up_for_nothing_is_not_waited_for_for_ever() {
        let baton = Baton::new(schedule(&[("main", 5, None)]));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        let taken = restless(&baton);
        assert!(taken > DOZE && taken < 2 * PATIENCE, "{taken:?}");
        assert_eq!(baton.verdict(), lost(0, "main", 2, 5, Cause::MadeNoStep));
    }
}
