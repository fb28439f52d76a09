//! Forced runs: exactly the thread whose turn it is passes its next point.
//!
//! A schedule is a list of turns: a thread, named by who started it and in which order (`main/0/2`), the position up to
//! which it runs, and perhaps the method or the lock that it runs out of after that. A thread asks before a point that
//! its turn does not cover, and before it may block. Threads that the schedule does not name run freely. After the last
//! turn everybody does.
//!
//! No wait is unbounded. A thread that ends, or blocks where the schedule did not expect it, before its turn is over
//! loses the turn, and that is noted; whether the run still had what it was made for is for its trace to tell. The
//! schedule waits for a thread that does not exist yet, and the thread that starts it continues until it has. Locks are watched, so that a
//! deadlock is known when the circle closes, and a turn that waits for a lock whose holder waits for its own turn is
//! known to be lost at once.

mod locks;
mod watch;

use std::mem::offset_of;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ravel_protocol::{Cause, Leave, Schedule, Segment, Slip, Verdict, WantedLock, line};
use ravel_trace::spawn;
use rustc_hash::{FxHashMap, FxHashSet};

use self::locks::Locks;
use crate::idle::Idle;
use crate::thread_block::{FRAME, MethodFrame, ThreadBlock};

/// Turns that may be lost before the schedule is given up.
const MOST_LOST: usize = 16;
/// The time that may be lost with them.
const LONGEST_LOST: Duration = Duration::from_secs(12);

#[derive(Clone, Copy)]
struct View {
    block: *const ThreadBlock,
}

// SAFETY: blocks are never freed, and only whole words of them are read.
unsafe impl Send for View {}

struct BatonState {
    schedule: Schedule,
    current: usize,
    /// The first turn that was lost, and why.
    slip: Option<Slip>,
    /// How many were, and what it took to know.
    lost: (usize, Duration),
    /// The threads of the circle that closed.
    deadlock: Option<Vec<String>>,
    /// All threads, once none can move.
    hung: Option<Vec<String>>,
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
    /// Threads that had done all that their turn covers and slept, or waited with a time limit, when it ended.
    dozing: FxHashSet<u32>,
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
    state: Mutex<BatonState>,
    changed: Condvar,
}

impl Baton {
    /// Reads the schedule that the command line wrote.
    pub fn read(path: &Path) -> Result<Baton, String> {
        let schedule: Schedule = line::read_one(path).map_err(|error| error.to_string())?;
        Ok(Baton::new(schedule))
    }

    fn new(schedule: Schedule) -> Baton {
        let turns = schedule.segments.iter();
        let named = turns.map(|turn| schedule.thread(turn).path.clone()).collect();
        let state = BatonState {
            schedule,
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
            dozing: FxHashSet::default(),
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

    fn lock(&self) -> MutexGuard<'_, BatonState> {
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
    pub fn pass(&self, block: &ThreadBlock) {
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            block.set_gate(u32::MAX);
            return;
        };
        loop {
            if state.is_over() || !self.named.contains(&path) && !state.must_start(&path) {
                block.set_gate(if state.is_over() {
                    u32::MAX
                } else {
                    self.free_gate(&path)
                });
                break;
            }
            if state.is_turn_of(&path) {
                let turn = state.schedule.segments[state.current];
                if block.position() < turn.until {
                    block.set_gate(turn.until);
                    break;
                }
                if turn.leave.is_some_and(|leave| state.is_inside(block, leave)) {
                    block.set_gate(block.position() + 1);
                    break;
                }
                self.next(&mut state);
                continue;
            }
            if state.must_start(&path) {
                block.set_gate(block.position() + 1);
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

    /// Before an operation that may block: the next thread need not wait for this thread's next point. A thread that has yet to
    /// leave a unit keeps its turn: should it block, the watch takes it away.
    pub fn hand_over(&self, block: &ThreadBlock) {
        let mut state = self.lock();
        let Some(path) = state.paths.get(&block.thread).cloned() else {
            return;
        };
        while state.is_turn_of(&path) && state.has_done(block) {
            self.next(&mut state);
        }
    }

    fn next(&self, state: &mut BatonState) {
        state.current += 1;
        state.since = Instant::now();
        // A thread that came as far as its turn covers and ended has left whatever it was in.
        while let Some((thread, until)) = state.turn().map(|(thread, turn)| (thread, turn.until))
            && let Some(&reached) = state.ended.get(thread)
        {
            if reached < until {
                state.note(reached, Cause::ThreadEnded);
            }
            state.current += 1;
        }
        // Threads that were only held back need not come, nor be there: what they would start with may wait for something else.
        let rest = state.schedule.segments.get(state.current..).unwrap_or_default();
        if rest.iter().all(Segment::asks_for_nothing) {
            state.current = state.schedule.segments.len();
        }
        self.changed.notify_all();
    }

    /// Takes the turn away from the thread that has it and came as far as this position. A run that has lost many is not the one that was planned, and goes on
    /// freely: to wait out the rest, turn by turn, would tell nothing more.
    fn skip(&self, state: &mut BatonState, at: u32, cause: Cause) {
        state.note(at, cause);
        state.lost = (state.lost.0 + 1, state.lost.1 + state.since.elapsed());
        if let Some((thread, _)) = state.turn()
            && let Some(view) = state.threads.get(thread)
        {
            // SAFETY: blocks are never freed. The thread looks at the word before its next point, and writes it only with the
            // state locked, as it is here.
            unsafe { &*view.block }.set_gate(0);
        }
        if state.lost.0 >= MOST_LOST || state.lost.1 >= LONGEST_LOST {
            state.current = state.schedule.segments.len().saturating_sub(1);
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
        state.ended.insert(path.clone(), block.position());
        if state.is_turn_of(&path) {
            self.skip(&mut state, block.position(), Cause::ThreadEnded);
        }
    }

    /// A thread is about to take a lock and will block if it is not free. True if that closes a circle.
    pub fn wants(&self, block: &ThreadBlock, lock: u64) -> bool {
        let mut state = self.lock();
        let Some(circle) = state.locks.wants(block.thread, lock) else {
            return false;
        };
        let names = circle.iter().map(|thread| state.name(*thread)).collect();
        state.deadlock = Some(names);
        true
    }

    /// Before a thread acquires a lock that may not be free: its holder may need the turn to release it.
    pub fn before_lock(&self, block: &ThreadBlock, lock: u64) {
        let mut state = self.lock();
        let (Some(holder), Some(path)) = (
            state.locks.holder(lock).filter(|owner| *owner != block.thread),
            state.paths.get(&block.thread).cloned(),
        ) else {
            return;
        };
        while state.is_turn_of(&path) {
            if state.has_done(block) {
                self.next(&mut state);
            } else if state.parked.contains(&holder) {
                let wanted = state.wanted_lock(lock, holder);
                self.skip(&mut state, block.position(), Cause::WantedLock(wanted));
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

    /// How far the run has followed the schedule, for the command line.
    pub fn verdict(&self) -> Verdict {
        let state = self.lock();
        let slip = state.slip.clone();
        if let Some(threads) = state.deadlock.clone() {
            return Verdict::Deadlock { threads, slip };
        }
        if let Some(slip) = slip.clone().or_else(|| state.unreached()).filter(|_| !state.is_over()) {
            return Verdict::Failed { slip };
        }
        match state.hung.clone() {
            Some(threads) => Verdict::Hang { threads, slip },
            None => Verdict::Complete { slip },
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

impl BatonState {
    fn is_over(&self) -> bool {
        self.current >= self.schedule.segments.len()
    }

    /// The turn that is on, and the path of its thread; none after the last one.
    fn turn(&self) -> Option<(&str, Segment)> {
        let turn = self.schedule.segments.get(self.current)?;
        Some((&self.schedule.thread(turn).path, *turn))
    }

    fn is_turn_of(&self, path: &str) -> bool {
        self.turn().is_some_and(|(thread, _)| thread == path)
    }

    /// What the program calls a thread.
    fn name(&self, number: u32) -> String {
        let known = self.names.get(&number).cloned();
        known.unwrap_or_else(|| format!("thread {number}"))
    }

    /// The turn that is on is lost, with its thread at this position; the first that is lost is kept.
    fn note(&mut self, at: u32, cause: Cause) {
        if self.slip.is_none() {
            self.slip = self.slipped(at, cause);
        }
    }

    fn slipped(&self, at: u32, cause: Cause) -> Option<Slip> {
        let (thread, turn) = self.turn()?;
        Some(Slip {
            turn: self.current,
            thread: thread.to_string(),
            at,
            until: turn.until,
            cause,
        })
    }

    /// The turn that is on, if the program ends now.
    fn unreached(&self) -> Option<Slip> {
        let (thread, _) = self.turn()?;
        // SAFETY: blocks are never freed; a stale position is one that the thread had.
        let position = |view: &View| unsafe { &*view.block }.position();
        let at = self.threads.get(thread).map_or(0, position);
        self.slipped(at, Cause::ProgramEnded)
    }

    /// A lock that a thread wants, and who holds it.
    fn wanted_lock(&self, lock: u64, holder: u32) -> WantedLock {
        WantedLock {
            lock,
            holder: self.paths.get(&holder).cloned().unwrap_or_default(),
        }
    }

    /// Whether the thread whose turn it is is not there yet, and this one is the nearest of those it comes from.
    fn must_start(&self, path: &str) -> bool {
        let Some((thread, _)) = self.turn() else {
            return false;
        };
        // A worker of a pool is started by no point of the program, in whichever thread finds the pool busy.
        if self.threads.contains_key(thread) || worker_number(thread).is_some() {
            return false;
        }
        let mut ancestor = thread;
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
        let inside = |turn: &Segment| turn.leave.is_some_and(|leave| self.is_inside(block, leave));
        self.turn()
            .is_none_or(|(_, turn)| block.position() >= turn.until && !inside(&turn))
    }

    /// Whether a thread is inside as somebody else sees it: another method may be at the depth of the one that was left, for until it passes a
    /// point.
    fn seems_inside(&self, number: u32, frames: u64, leave: Leave) -> bool {
        match leave {
            Leave::Frame { depth, .. } => depth > 0 && frames >= u64::from(depth),
            Leave::Lock(count) => self.locks.count(number) >= count as usize,
            Leave::Times(_) => false,
        }
    }

    fn is_inside(&self, block: &ThreadBlock, leave: Leave) -> bool {
        match leave {
            Leave::Frame { depth, entered } => {
                let (bottom, frames) = block.frames();
                if depth == 0 || frames < u64::from(depth) {
                    return false;
                }
                let frame = bottom + u64::from(depth - 1) * FRAME as u64;
                // SAFETY: the frame lies below the top of the stack of the thread that calls.
                let position = unsafe { ((frame + offset_of!(MethodFrame, position) as u64) as *const u32).read() };
                position <= entered
            }
            Leave::Lock(count) => self.locks.count(block.thread) >= count as usize,
            Leave::Times(_) => false,
        }
    }
}

/// The number of a thread that a pool started on demand, from its path.
fn worker_number(path: &str) -> Option<u32> {
    let number = path.rsplit('/').next()?.parse().ok()?;
    spawn::is_worker(number).then_some(number)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use ravel_protocol::ThreadName;

    use super::*;

    pub(super) fn block(thread: u32, position: u32) -> Box<ThreadBlock> {
        // SAFETY: all fields are integers, for which zero is a value.
        let mut block: Box<ThreadBlock> = Box::new(unsafe { std::mem::zeroed() });
        block.thread = thread;
        *block.position.get_mut() = position;
        block
    }

    fn gate(block: &ThreadBlock) -> u32 {
        block.gate.load(Relaxed)
    }

    /// A schedule of turns: a thread's path, the position up to which it runs, and what it then leaves.
    pub(super) fn schedule(turns: &[(&str, u32, Option<Leave>)]) -> Schedule {
        let mut schedule = Schedule::default();
        for &(path, until, leave) in turns {
            let known = schedule.threads.iter().position(|thread| thread.path == path);
            let thread = known.unwrap_or(schedule.threads.len());
            if known.is_none() {
                let (path, name) = (path.to_string(), path.to_string());
                schedule.threads.push(ThreadName { path, name });
            }
            schedule.segments.push(Segment { thread, until, leave });
        }
        schedule
    }

    /// The verdict of a run in which all turns were given and one was lost.
    pub(super) fn lost(turn: usize, thread: &str, at: u32, until: u32, cause: Cause) -> Verdict {
        let thread = thread.to_string();
        Verdict::Complete {
            slip: Some(Slip {
                turn,
                thread,
                at,
                until,
                cause,
            }),
        }
    }

    const COMPLETE: Verdict = Verdict::Complete { slip: None };

    #[test]
    fn the_thread_whose_turn_it_is_passes_and_hands_over() {
        let baton = Baton::new(schedule(&[("main", 2, None), ("main/0", 1, None), ("main", 3, None)]));
        let (main, child, other) = (block(0, 0), block(1, 0), block(2, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.add(&raw const *other, 2, "main/1".into());
        baton.pass(&main);
        assert_eq!(gate(&main), 2);
        baton.pass(&other);
        assert_eq!(gate(&other), u32::MAX);
        main.position.store(2, Relaxed);
        baton.hand_over(&main);
        baton.pass(&child);
        assert_eq!(gate(&child), 1);
        child.position.store(1, Relaxed);
        baton.end(&child);
        baton.pass(&main);
        assert_eq!(gate(&main), 3);
        main.position.store(3, Relaxed);
        baton.pass(&main);
        assert_eq!((gate(&main), baton.verdict()), (u32::MAX, COMPLETE));
    }

    #[test]
    fn a_thread_that_ends_early_fails_the_schedule() {
        let baton = Baton::new(schedule(&[("main", 5, None)]));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        baton.end(&main);
        assert_eq!(baton.verdict(), lost(0, "main", 2, 5, Cause::ThreadEnded));
    }

    #[test]
    fn threads_that_are_held_back_go_on_after_the_last_turn_and_need_not_be_there() {
        let name = |path: &str| ThreadName {
            path: path.into(),
            name: path.into(),
        };
        let mut turns = schedule(&[("main", 3, None)]);
        turns.hold_back(&[name("main/0"), name("main/1"), name("main")]);
        assert_eq!(turns.segments.len(), 3, "main has a turn already");
        let baton = Baton::new(turns);
        let (main, held) = (block(0, 0), block(1, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *held, 1, "main/0".into());
        assert!(baton.named.contains("main/0"));
        baton.pass(&main);
        assert_eq!((gate(&main), baton.lock().is_over()), (3, false));
        main.position.store(3, Relaxed);
        // The thread main/1 was never started.
        baton.pass(&main);
        assert!(baton.lock().is_over());
        baton.pass(&held);
        assert_eq!(gate(&held), u32::MAX);
        assert_eq!(baton.verdict(), Verdict::Complete { slip: None });
    }

    #[test]
    fn a_thread_that_has_done_its_part_may_have_ended_before_its_last_turn() {
        let baton = Baton::new(schedule(&[
            ("main/0", 1, None),
            ("main", 2, None),
            ("main/0", 1, Some(Leave::Frame { depth: 1, entered: 0 })),
            ("main/0", 2, None),
        ]));
        let (main, child) = (block(0, 0), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.end(&child);
        main.position.store(2, Relaxed);
        assert_eq!(baton.lock().current, 1);
        baton.hand_over(&main);
        assert_eq!(baton.verdict(), lost(3, "main/0", 1, 2, Cause::ThreadEnded));
    }

    #[test]
    fn a_turn_lasts_until_the_thread_is_out_of_a_method_or_a_lock() {
        let baton = Baton::new(schedule(&[
            ("main", 2, Some(Leave::Frame { depth: 2, entered: 1 })),
            ("main", 5, Some(Leave::Lock(1))),
        ]));
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        // Two frames, the second entered at position 1.
        let mut stack = [0u32; 2 * FRAME / 4];
        stack[FRAME / 4 + 2] = 1;
        let bottom = stack.as_ptr() as u64;
        main.bottom.store(bottom, Relaxed);
        main.top.store(bottom + 2 * FRAME as u64, Relaxed);
        baton.pass(&main);
        assert_eq!(gate(&main), 3);
        // Another method at the same depth.
        std::hint::black_box(&mut stack)[FRAME / 4 + 2] = 3;
        main.position.store(3, Relaxed);
        baton.pass(&main);
        assert_eq!(gate(&main), 5);
        baton.got(&main, 7);
        main.position.store(6, Relaxed);
        baton.pass(&main);
        assert_eq!(gate(&main), 7);
        baton.gives(&main, 7, false);
        main.position.store(7, Relaxed);
        baton.pass(&main);
        assert_eq!((gate(&main), baton.verdict()), (u32::MAX, COMPLETE));
    }

    #[test]
    fn whoever_starts_the_thread_whose_turn_it_is_goes_on() {
        let baton = Baton::new(schedule(&[("main/0", 1, None)]));
        let (main, child) = (block(0, 4), block(1, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.pass(&main);
        assert_eq!(gate(&main), 5);
        baton.add(&raw const *child, 1, "main/0".into());
        baton.pass(&main);
        assert_eq!(gate(&main), 0);
        baton.pass(&child);
        assert_eq!(gate(&child), 1);
    }

    #[test]
    fn a_turn_that_waits_for_a_parked_threads_lock_is_lost() {
        let baton = Baton::new(schedule(&[("main", 9, None), ("main/0", 3, None)]));
        let (main, child) = (block(0, 2), block(1, 1));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        baton.got(&child, 5);
        baton.before_lock(&main, 5);
        assert_eq!(baton.lock().current, 0);
        baton.lock().parked.insert(1);
        baton.before_lock(&main, 5);
        assert_eq!(baton.lock().current, 1);
        // The second turn is still to come when the program ends: the first one that was lost is the reason.
        let holder = "main/0".to_string();
        let lost = lost(0, "main", 2, 9, Cause::WantedLock(WantedLock { lock: 5, holder }));
        assert_eq!(Some(baton.verdict()), failed(lost));
    }

    fn failed(lost: Verdict) -> Option<Verdict> {
        let slip = lost.slip().cloned()?;
        Some(Verdict::Failed { slip })
    }

    #[test]
    fn a_program_that_ends_before_its_turns_fails_the_schedule() {
        let baton = Baton::new(schedule(&[("main", 5, None)]));
        assert_eq!(
            Some(baton.verdict()),
            failed(lost(0, "main", 0, 5, Cause::ProgramEnded))
        );
        let main = block(0, 2);
        baton.add(&raw const *main, 0, "main".into());
        assert_eq!(
            Some(baton.verdict()),
            failed(lost(0, "main", 2, 5, Cause::ProgramEnded))
        );
    }

    #[test]
    fn a_schedule_that_cannot_be_read_is_named_with_its_line() {
        let file = std::env::temp_dir().join(format!("ravel-turns-{}", std::process::id()));
        std::fs::write(&file, "main 3\n").expect("written");
        let error = Baton::read(&file).err().expect("no schedule");
        assert!(error.starts_with(&format!("{}:1: ", file.display())), "{error}");
        let sent = schedule(&[("main", 3, Some(Leave::Lock(1)))]);
        std::fs::write(&file, line::encode(&sent).expect("a line")).expect("written");
        assert_eq!(Baton::read(&file).expect("a schedule").lock().schedule, sent);
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_schedule_that_loses_many_turns_is_given_up() {
        let turns: Vec<_> = (1..100)
            .flat_map(|until| [("main", until, None), ("main/0", until, None)])
            .collect();
        let baton = Baton::new(schedule(&turns));
        let (main, child) = (block(0, 0), block(1, 0));
        baton.add(&raw const *main, 0, "main".into());
        baton.add(&raw const *child, 1, "main/0".into());
        for number in 0..MOST_LOST {
            assert_eq!(baton.lock().current, number);
            let mut state = baton.lock();
            baton.skip(&mut state, 0, Cause::Slept);
        }
        assert_eq!(baton.verdict(), lost(0, "main", 0, 1, Cause::Slept));
    }

    #[test]
    fn a_closed_circle_of_locks_is_told_by_name() {
        let baton = Baton::new(Schedule::default());
        let (a, b) = (block(0, 0), block(1, 0));
        baton.begin(0, "one", true);
        baton.got(&a, 10);
        baton.got(&b, 20);
        assert!(!baton.wants(&a, 20));
        assert!(baton.wants(&b, 10));
        let threads = vec!["thread 1".to_string(), "one".to_string()];
        assert_eq!(baton.verdict(), Verdict::Deadlock { threads, slip: None });
    }
}
