//! Forced runs: exactly the thread whose turn it is passes its next point.
//!
//! A schedule is a list of turns: a thread, named by who started it and in which order (`main/0/2`), and the position up to
//! which it runs. A thread asks before a point that its turn does not cover, and before it may block. Threads that the
//! schedule does not name run freely. After the last turn everybody does.
//!
//! Nothing waits for ever: when the thread whose turn it is makes no step for a while, or ends early, the schedule is
//! given up, everybody runs freely, and the reason is kept. Locks are watched, so that a deadlock is known when the
//! circle closes and not by waiting.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::thread_block::ThreadBlock;

/// How long the thread whose turn it is may take from one point to the next.
const PATIENCE: Duration = Duration::from_secs(4);

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    thread: String,
    limit: u32,
}

#[derive(Clone, Copy)]
struct View {
    block: *const ThreadBlock,
}

// SAFETY: blocks live for ever, and only whole words of them are read.
unsafe impl Send for View {}

struct State {
    turns: Vec<Turn>,
    current: usize,
    failed: Option<String>,
    deadlock: Option<String>,
    threads: FxHashMap<String, View>,
    paths: FxHashMap<u32, String>,
    names: FxHashMap<u32, String>,
    held: FxHashMap<u64, (u32, u32)>,
    wanted: FxHashMap<u32, u64>,
    seen: (usize, u32),
    since: Instant,
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
            failed: None,
            deadlock: None,
            threads: FxHashMap::default(),
            paths: FxHashMap::default(),
            names: FxHashMap::default(),
            held: FxHashMap::default(),
            wanted: FxHashMap::default(),
            seen: (0, 0),
            since: Instant::now(),
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

    /// A thread has its name.
    pub fn rename(&self, number: u32, name: &str) {
        self.lock().names.insert(number, name.to_string());
    }

    /// Before a point that the thread's turn does not cover: waits for its next turn.
    pub fn pass(&self, block: &mut ThreadBlock) {
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            block.gate = u32::MAX;
            return;
        };
        if !self.named.contains(&path) {
            block.gate = u32::MAX;
            return;
        }
        loop {
            if state.is_over() {
                block.gate = u32::MAX;
                return;
            }
            let turn = &state.turns[state.current];
            if turn.thread == path {
                if block.position < turn.limit {
                    block.gate = turn.limit;
                    return;
                }
                self.next(&mut state);
                continue;
            }
            state = self
                .changed
                .wait_timeout(state, Duration::from_millis(100))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Before an operation that may block: whoever is next need not wait for this thread's next point.
    pub fn hand_over(&self, block: &ThreadBlock) {
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            return;
        };
        while !state.is_over()
            && state.turns[state.current].thread == path
            && block.position >= state.turns[state.current].limit
        {
            self.next(&mut state);
        }
    }

    fn next(&self, state: &mut State) {
        state.current += 1;
        state.since = Instant::now();
        self.changed.notify_all();
    }

    /// A thread has ended.
    pub fn end(&self, block: &ThreadBlock) {
        self.hand_over(block);
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            return;
        };
        if !state.is_over() && state.turns[state.current].thread == path {
            let limit = state.turns[state.current].limit;
            state.failed = Some(format!(
                "thread {path} ended at point {}, before point {limit}",
                block.position
            ));
            self.changed.notify_all();
        }
    }

    /// Gives the schedule up if the thread whose turn it is does nothing.
    pub fn watch(&self) {
        let mut state = self.lock();
        if state.is_over() {
            return;
        }
        let turn = state.turns[state.current].clone();
        let position = state.threads.get(&turn.thread).map(|view| {
            // SAFETY: blocks live for ever; a stale position only delays the verdict.
            unsafe { std::ptr::read_volatile(&raw const (*view.block).position) }
        });
        let now = (state.current, position.unwrap_or(0));
        if now != state.seen {
            state.seen = now;
            state.since = Instant::now();
        } else if state.since.elapsed() > PATIENCE {
            state.failed = Some(match position {
                Some(position) => {
                    format!(
                        "thread {} stopped at point {position}, before point {}",
                        turn.thread, turn.limit
                    )
                }
                None => format!("thread {} was not started", turn.thread),
            });
            self.changed.notify_all();
        }
    }

    /// A thread is about to take a lock and will block if it is not free. True if that closes a circle.
    pub fn wants(&self, block: &ThreadBlock, lock: u64) -> bool {
        let mut state = self.lock();
        if state.held.get(&lock).is_some_and(|(owner, _)| *owner == block.thread) {
            return false;
        }
        state.wanted.insert(block.thread, lock);
        let (mut chain, mut next) = (vec![block.thread], lock);
        while let Some((owner, _)) = state.held.get(&next) {
            let owner = *owner;
            if owner == block.thread {
                let name = |thread: &u32| {
                    state
                        .names
                        .get(thread)
                        .cloned()
                        .unwrap_or_else(|| format!("thread {thread}"))
                };
                let words: Vec<String> = chain.iter().map(name).collect();
                state.deadlock = Some(words.join(", "));
                return true;
            }
            if chain.contains(&owner) {
                return false;
            }
            chain.push(owner);
            match state.wanted.get(&owner) {
                Some(wanted) => next = *wanted,
                None => return false,
            }
        }
        false
    }

    /// Whether another thread has the lock.
    pub fn must_wait(&self, block: &ThreadBlock, lock: u64) -> bool {
        self.lock()
            .held
            .get(&lock)
            .is_some_and(|(owner, _)| *owner != block.thread)
    }

    /// A thread has got a lock.
    pub fn got(&self, block: &ThreadBlock, lock: u64) {
        let mut state = self.lock();
        state.wanted.remove(&block.thread);
        let entry = state.held.entry(lock).or_insert((block.thread, 0));
        if entry.0 == block.thread {
            entry.1 += 1;
        } else {
            *entry = (block.thread, 1);
        }
    }

    /// A thread gives a lock up, one level of it or all.
    pub fn gives(&self, block: &ThreadBlock, lock: u64, all: bool) {
        let mut state = self.lock();
        if let Some((owner, depth)) = state.held.get_mut(&lock)
            && *owner == block.thread
        {
            *depth -= 1;
            if *depth == 0 || all {
                state.held.remove(&lock);
            }
        }
    }

    /// How it went, for the command line: `complete`, `failed …` or `deadlock …`.
    pub fn outcome(&self) -> String {
        let state = self.lock();
        match (&state.deadlock, &state.failed) {
            (Some(threads), None) if state.current >= state.turns.len() => format!("deadlock {threads}"),
            (_, Some(reason)) => format!("failed {reason}"),
            _ if state.current >= state.turns.len() => "complete".to_string(),
            (_, None) => {
                let turn = &state.turns[state.current];
                format!(
                    "failed the program ended before thread {} reached point {}",
                    turn.thread, turn.limit
                )
            }
        }
    }
}

impl State {
    fn is_over(&self) -> bool {
        self.failed.is_some() || self.current >= self.turns.len()
    }
}

fn parse(text: &str) -> Result<Vec<Turn>, String> {
    let mut turns = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (thread, limit) = line
            .rsplit_once(' ')
            .ok_or_else(|| format!("{}: a turn is a thread and a position", number + 1))?;
        let limit = limit
            .parse()
            .map_err(|_| format!("{}: {limit:?} is no position", number + 1))?;
        turns.push(Turn {
            thread: thread.trim().to_string(),
            limit,
        });
    }
    Ok(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_lines_of_thread_and_position() {
        let turns = parse("# two turns\nmain 3\n\nmain/0 12\n").expect("a schedule");
        assert_eq!(turns.len(), 2);
        assert_eq!((turns[1].thread.as_str(), turns[1].limit), ("main/0", 12));
        assert_eq!(parse("main"), Err("1: a turn is a thread and a position".into()));
        assert_eq!(parse("main 1\nmain x"), Err("2: \"x\" is no position".into()));
    }

    fn block(thread: u32, position: u32) -> Box<ThreadBlock> {
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
        assert_eq!(baton.outcome(), "failed thread main ended at point 2, before point 5");
    }

    #[test]
    fn a_closed_circle_of_locks_is_a_deadlock() {
        let baton = Baton::new(Vec::new());
        let (a, b) = (block(0, 0), block(1, 0));
        baton.got(&a, 10);
        baton.got(&b, 20);
        baton.got(&a, 10);
        assert!(!baton.wants(&a, 20));
        assert!(baton.wants(&b, 10));
        assert!(baton.outcome().starts_with("deadlock"));
        let free = Baton::new(Vec::new());
        free.got(&a, 10);
        free.gives(&a, 10, false);
        free.got(&b, 20);
        assert!(!free.wants(&a, 20));
        assert!(!free.wants(&b, 10));
    }
}
