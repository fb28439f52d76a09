//! Forced runs: exactly the thread whose turn it is passes its next point.
//!
//! A schedule is a list of turns: a thread, named by who started it and in which order (`main/0/2`), the position up to
//! which it runs, and perhaps the method or the lock that it runs out of after that. A thread asks before a point that
//! its turn does not cover, and before it may block. Threads that the schedule does not name run freely. After the last
//! turn everybody does.
//!
//! Nothing waits for ever. A thread that ends, or blocks where the schedule did not expect it, before its turn is over
//! loses the turn, and that is noted; whether the run still had what it was made for is for its trace to tell. A
//! thread that is not there yet is waited for, and whoever is to start it goes on until it has. Locks are watched, so that a
//! deadlock is known when the circle closes, and a turn that waits for a lock whose holder waits for its own turn is
//! known to be lost at once.

mod locks;
mod turns;
mod watch;

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use self::locks::Locks;
use self::turns::{Leave, Turn, parse};
use crate::idle::Idle;
use crate::thread_block::{FRAME, ThreadBlock};

/// Turns that may be lost before the schedule is given up.
const MOST_LOST: usize = 16;
/// The time that may be lost with them.
const LONGEST_LOST: Duration = Duration::from_secs(12);

#[derive(Clone, Copy)]
struct View {
    block: *const ThreadBlock,
}

// SAFETY: blocks live for ever, and only whole words of them are read.
unsafe impl Send for View {}

struct State {
    turns: Vec<Turn>,
    current: usize,
    /// The first turn that was lost, and why.
    slip: Option<String>,
    /// How many were, and what it took to know.
    lost: (usize, Duration),
    deadlock: Option<String>,
    hung: Option<String>,
    threads: FxHashMap<String, View>,
    paths: FxHashMap<u32, String>,
    names: FxHashMap<u32, String>,
    locks: Locks,
    /// Threads that wait for a turn.
    parked: FxHashSet<u32>,
    /// Threads that have ended, and where.
    ended: FxHashMap<String, u32>,
    /// Threads that run, with what the kernel knows of them; none for virtual ones.
    live: FxHashMap<u32, Option<Idle>>,
    seen: (usize, u32),
    since: Instant,
    /// The turn whose thread was last seen past its point but still in its unit, and since when.
    leaving: (usize, Instant),
    /// When the threads were last looked at.
    looked: Instant,
}

/// Who may go.
pub struct Baton {
    named: FxHashSet<String>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Baton {
    /// Reads a schedule: a line a turn, `thread position`; empty lines and lines that begin with `#` do not count.
    pub fn read(path: &Path) -> Result<Baton, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let turns = parse(&text).map_err(|error| format!("{}:{error}", path.display()))?;
        Ok(Baton::new(turns))
    }

    fn new(turns: Vec<Turn>) -> Baton {
        let named = turns.iter().map(|turn| turn.thread.clone()).collect();
        let state = State {
            turns,
            current: 0,
            slip: None,
            lost: (0, Duration::ZERO),
            deadlock: None,
            hung: None,
            threads: FxHashMap::default(),
            paths: FxHashMap::default(),
            names: FxHashMap::default(),
            locks: Locks::default(),
            parked: FxHashSet::default(),
            ended: FxHashMap::default(),
            live: FxHashMap::default(),
            seen: (0, 0),
            since: Instant::now(),
            leaving: (usize::MAX, Instant::now()),
            looked: Instant::now(),
        };
        Baton {
            named,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is about to start.
    pub fn add(&self, block: *const ThreadBlock, number: u32, path: String) {
        let mut state = self.lock();
        state.paths.insert(number, path.clone());
        state.threads.insert(path, View { block });
    }

    /// The thread that calls begins to run.
    pub fn begin(&self, number: u32, name: &str, virtual_thread: bool) {
        let mut state = self.lock();
        state.names.insert(number, name.to_string());
        state.live.insert(number, (!virtual_thread).then(Idle::own));
    }

    /// Before a point that the thread's turn does not cover: waits for its next turn.
    pub fn pass(&self, block: &mut ThreadBlock) {
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            block.gate = u32::MAX;
            return;
        };
        loop {
            if state.is_over() || !self.named.contains(&path) && !state.must_start(&path) {
                block.gate = if state.is_over() {
                    u32::MAX
                } else {
                    self.free_gate(&path)
                };
                break;
            }
            let turn = &state.turns[state.current];
            if turn.thread == path {
                if block.position < turn.limit {
                    block.gate = turn.limit;
                    break;
                }
                if turn.leave.is_some_and(|leave| state.is_inside(block, leave)) {
                    block.gate = block.position + 1;
                    break;
                }
                self.next(&mut state);
                continue;
            }
            if state.must_start(&path) {
                block.gate = block.position + 1;
                break;
            }
            state.parked.insert(block.thread);
            state = self
                .changed
                .wait_timeout(state, Duration::from_millis(100))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.parked.remove(&block.thread);
    }

    /// Before an operation that may block: whoever is next need not wait for this thread's next point. A thread that has yet to
    /// leave a unit keeps its turn: should it block, the watch takes it away.
    pub fn hand_over(&self, block: &ThreadBlock) {
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            return;
        };
        while !state.is_over() && state.turns[state.current].thread == path && state.has_done(block) {
            self.next(&mut state);
        }
    }

    fn next(&self, state: &mut State) {
        state.current += 1;
        state.since = Instant::now();
        // A thread that came as far as its turn covers and ended has left whatever it was in.
        while let Some(turn) = state.turns.get(state.current)
            && let Some(reached) = state.ended.get(&turn.thread)
        {
            if *reached < turn.limit {
                let reason = format!(
                    "thread {} ended at point {reached}, before point {}",
                    turn.thread, turn.limit
                );
                state.note(reason);
            }
            state.current += 1;
        }
        self.changed.notify_all();
    }

    /// Takes the turn away from the thread that has it. A run that has lost many is not the one that was planned, and goes on
    /// freely: to wait out the rest, turn by turn, would tell nothing more.
    fn skip(&self, state: &mut State, reason: String) {
        state.note(reason);
        state.lost = (state.lost.0 + 1, state.lost.1 + state.since.elapsed());
        let thread = &state.turns[state.current].thread;
        if let Some(view) = state.threads.get(thread) {
            // SAFETY: blocks live for ever. The thread looks at the word before its next point, and writes it only with the
            // state locked, as it is here.
            unsafe { std::ptr::write_volatile(&raw mut (*view.block.cast_mut()).gate, 0) };
        }
        if state.lost.0 >= MOST_LOST || state.lost.1 >= LONGEST_LOST {
            state.current = state.turns.len() - 1;
        }
        self.next(state);
    }

    /// A thread has ended.
    pub fn end(&self, block: &ThreadBlock) {
        self.hand_over(block);
        let mut state = self.lock();
        state.live.remove(&block.thread);
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            return;
        };
        state.ended.insert(path.clone(), block.position);
        if !state.is_over() && state.turns[state.current].thread == path {
            let limit = state.turns[state.current].limit;
            let reason = format!("thread {path} ended at point {}, before point {limit}", block.position);
            self.skip(&mut state, reason);
        }
    }

    /// A thread is about to take a lock and will block if it is not free. True if that closes a circle.
    pub fn wants(&self, block: &ThreadBlock, lock: u64) -> bool {
        let mut state = self.lock();
        let Some(circle) = state.locks.wants(block.thread, lock) else {
            return false;
        };
        let words: Vec<String> = circle.iter().map(|thread| state.name(*thread)).collect();
        state.deadlock = Some(words.join(", "));
        true
    }

    /// Before a thread takes a lock that may not be free: whoever holds it may need the turn to give it up.
    pub fn before_lock(&self, block: &ThreadBlock, lock: u64) {
        let mut state = self.lock();
        let (Some(holder), Some(path)) = (
            state.locks.holder(lock).filter(|owner| *owner != block.thread),
            state.paths.get(&block.thread).cloned(),
        ) else {
            return;
        };
        while !state.is_over() && state.turns[state.current].thread == path {
            let limit = state.turns[state.current].limit;
            if state.has_done(block) {
                self.next(&mut state);
            } else if state.parked.contains(&holder) {
                let name = state.paths.get(&holder).cloned().unwrap_or_default();
                let reason = format!(
                    "thread {path} wanted a lock of thread {name} at point {}, before point {limit}",
                    block.position
                );
                self.skip(&mut state, reason);
            } else {
                return;
            }
        }
    }

    /// A thread has got a lock.
    pub fn got(&self, block: &ThreadBlock, lock: u64) {
        self.lock().locks.got(block.thread, lock);
    }

    /// A thread gives a lock up, one level of it or all.
    pub fn gives(&self, block: &ThreadBlock, lock: u64, all: bool) {
        self.lock().locks.gives(block.thread, lock, all);
    }

    /// How it went, for the command line: `complete`, `hang …`, `deadlock …`, each perhaps with ` | ` and the first turn that was
    /// lost, or `failed …`.
    pub fn outcome(&self) -> String {
        let state = self.lock();
        if !state.is_over() && state.deadlock.is_none() {
            let turn = &state.turns[state.current];
            let reason = state.slip.clone().unwrap_or_else(|| {
                format!(
                    "the program ended before thread {} reached point {}",
                    turn.thread, turn.limit
                )
            });
            return format!("failed {reason}");
        }
        let verdict = match (&state.deadlock, &state.hung) {
            (Some(threads), _) => format!("deadlock {threads}"),
            (None, Some(threads)) => format!("hang {threads}"),
            (None, None) => "complete".to_string(),
        };
        match &state.slip {
            Some(slip) => format!("{verdict} | {slip}"),
            None => verdict,
        }
    }

    /// Whether all turns have been over for a while.
    pub fn has_been_over(&self, time: Duration) -> bool {
        let state = self.lock();
        state.is_over() && state.since.elapsed() > time
    }

    /// When a thread that has no turn must ask next: at once if it may have to wait for one that it starts.
    fn free_gate(&self, path: &str) -> u32 {
        let starts = |named: &String| named.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        if self.named.iter().any(starts) { 0 } else { u32::MAX }
    }
}

impl State {
    fn is_over(&self) -> bool {
        self.current >= self.turns.len()
    }

    /// What the program calls a thread.
    fn name(&self, number: u32) -> String {
        let known = self.names.get(&number).cloned();
        known.unwrap_or_else(|| format!("thread {number}"))
    }

    fn note(&mut self, reason: String) {
        self.slip.get_or_insert(reason);
    }

    /// Whether the thread whose turn it is is not there yet, and this one is the nearest of those it comes from.
    fn must_start(&self, path: &str) -> bool {
        let Some(turn) = self.turns.get(self.current) else {
            return false;
        };
        if self.threads.contains_key(&turn.thread) {
            return false;
        }
        let mut ancestor = turn.thread.as_str();
        while let Some((above, _)) = ancestor.rsplit_once('/') {
            if self.threads.contains_key(above) {
                return above == path;
            }
            ancestor = above;
        }
        false
    }

    /// Whether the thread that calls, whose turn it is, has done all that the turn covers.
    fn has_done(&self, block: &ThreadBlock) -> bool {
        let turn = &self.turns[self.current];
        block.position >= turn.limit && !turn.leave.is_some_and(|leave| self.is_inside(block, leave))
    }

    /// Whether a thread is inside as somebody else sees it: another method may be at the depth of the one that was left, for until it passes a
    /// point.
    fn seems_inside(&self, number: u32, frames: u64, leave: Leave) -> bool {
        match leave {
            Leave::Frame(depth, _) => depth > 0 && frames >= u64::from(depth),
            Leave::Lock(count) => self.locks.count(number) >= count as usize,
        }
    }

    fn is_inside(&self, block: &ThreadBlock, leave: Leave) -> bool {
        match leave {
            Leave::Frame(depth, entered) => {
                let frames = (block.top - block.bottom) / FRAME as u64;
                if depth == 0 || frames < u64::from(depth) {
                    return false;
                }
                let frame = block.bottom + u64::from(depth - 1) * FRAME as u64;
                // SAFETY: the frame lies below the top of the stack of the thread that calls; the position is its third word.
                let position = unsafe { ((frame + 8) as *const u32).read() };
                position <= entered
            }
            Leave::Lock(count) => self.locks.count(block.thread) >= count as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn block(thread: u32, position: u32) -> Box<ThreadBlock> {
        // SAFETY: all fields are integers, for which zero is a value.
        let mut block: Box<ThreadBlock> = Box::new(unsafe { std::mem::zeroed() });
        (block.thread, block.position) = (thread, position);
        block
    }

    #[test]
    fn the_thread_whose_turn_it_is_passes_and_hands_over() {
        let baton = Baton::new(parse("main 2\nmain/0 1\nmain 3\n").expect("a schedule"));
        let (mut main, mut child, mut other) = (block(0, 0), block(1, 0), block(2, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.add(&raw const *other, 2, "main/1".into());
        baton.pass(&mut main);
        assert_eq!(main.gate, 2);
        baton.pass(&mut other);
        assert_eq!(other.gate, u32::MAX);
        main.position = 2;
        baton.hand_over(&main);
        baton.pass(&mut child);
        assert_eq!(child.gate, 1);
        child.position = 1;
        baton.end(&child);
        baton.pass(&mut main);
        assert_eq!(main.gate, 3);
        main.position = 3;
        baton.pass(&mut main);
        assert_eq!((main.gate, baton.outcome()), (u32::MAX, "complete".into()));
    }

    #[test]
    fn a_thread_that_ends_early_fails_the_schedule() {
        let baton = Baton::new(parse("main 5\n").expect("a schedule"));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        baton.end(&main);
        assert_eq!(
            baton.outcome(),
            "complete | thread main ended at point 2, before point 5"
        );
    }

    #[test]
    fn a_thread_that_has_done_its_part_may_have_ended_before_its_last_turn() {
        let baton = Baton::new(parse("main/0 1\nmain 2\nmain/0 1 frame 1 entered 0\nmain/0 2\n").expect("a schedule"));
        let (mut main, child) = (block(0, 0), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.end(&child);
        main.position = 2;
        assert_eq!(baton.lock().current, 1);
        baton.hand_over(&main);
        assert_eq!(
            baton.outcome(),
            "complete | thread main/0 ended at point 1, before point 2"
        );
    }

    #[test]
    fn a_turn_lasts_until_the_thread_is_out_of_a_method_or_a_lock() {
        let baton = Baton::new(parse("main 2 frame 2 entered 1\nmain 5 lock 1\n").expect("a schedule"));
        let mut main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        // Two frames, the second entered at position 1.
        let mut stack = [0u32; 2 * FRAME / 4];
        stack[FRAME / 4 + 2] = 1;
        main.bottom = stack.as_ptr() as u64;
        main.top = main.bottom + 2 * FRAME as u64;
        baton.pass(&mut main);
        assert_eq!(main.gate, 3);
        // Another method at the same depth.
        std::hint::black_box(&mut stack)[FRAME / 4 + 2] = 3;
        main.position = 3;
        baton.pass(&mut main);
        assert_eq!(main.gate, 5);
        baton.got(&main, 7);
        main.position = 6;
        baton.pass(&mut main);
        assert_eq!(main.gate, 7);
        baton.gives(&main, 7, false);
        main.position = 7;
        baton.pass(&mut main);
        assert_eq!((main.gate, baton.outcome()), (u32::MAX, "complete".into()));
    }

    #[test]
    fn whoever_starts_the_thread_whose_turn_it_is_goes_on() {
        let baton = Baton::new(parse("main/0 1\n").expect("a schedule"));
        let (mut main, mut child) = (block(0, 4), block(1, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.pass(&mut main);
        assert_eq!(main.gate, 5);
        baton.add(&raw const *child, 1, "main/0".into());
        baton.pass(&mut main);
        assert_eq!(main.gate, 0);
        baton.pass(&mut child);
        assert_eq!(child.gate, 1);
    }

    #[test]
    fn a_turn_that_waits_for_a_parked_threads_lock_is_lost() {
        let baton = Baton::new(parse("main 9\nmain/0 3\n").expect("a schedule"));
        let (main, child) = (block(0, 2), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.got(&child, 5);
        baton.before_lock(&main, 5);
        assert_eq!(baton.lock().current, 0);
        baton.lock().parked.insert(1);
        baton.before_lock(&main, 5);
        assert_eq!(baton.lock().current, 1);
    }

    #[test]
    fn a_schedule_that_loses_many_turns_is_given_up() {
        let turns: String = (1..100)
            .map(|limit| format!("main {limit}\nmain/0 {limit}\n"))
            .collect();
        let baton = Baton::new(parse(&turns).expect("a schedule"));
        let (main, child) = (block(0, 0), block(1, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        for number in 0..MOST_LOST {
            assert_eq!(baton.lock().current, number);
            let mut state = baton.lock();
            baton.skip(&mut state, format!("turn {number}"));
        }
        assert_eq!(baton.outcome(), "complete | turn 0");
    }

    #[test]
    fn a_closed_circle_of_locks_is_told_by_name() {
        let baton = Baton::new(Vec::new());
        let (a, b) = (block(0, 0), block(1, 0));
        baton.begin(0, "one", true);
        baton.got(&a, 10);
        baton.got(&b, 20);
        assert!(!baton.wants(&a, 20));
        assert!(baton.wants(&b, 10));
        assert_eq!(baton.outcome(), "deadlock thread 1, one");
    }
}
