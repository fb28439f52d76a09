//! Searches: runs of the program under a scheduler that decides at each point which thread goes on.
//!
//! The code is instrumented as for forced runs, so points and positions are theirs. `machine.rs` has the rules, without threads and
//! without a JVM; `strategy.rs` chooses; here threads wait for their turn; `runs.rs` repeats `main` inside one JVM. A run that is made once,
//! as the launcher starts it, is recorded, and when no thread can go on any more the machine lets go: the threads then block for real, and
//! the JVM itself says whether they stand still.

mod machine;
mod runs;
mod strategy;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ravel_protocol::{Search as Plan, line};
use rustc_hash::FxHashMap;

use crate::agent::agent;
use crate::idle::{Idle, Sleep};
use crate::thread_block::ThreadBlock;
pub use machine::{Answer, LATE, Request};
pub use strategy::Op;

use self::machine::Machine;
use self::runs::Runs;

/// How long all threads may be outside before the run stands still.
const OUTSIDE: Duration = Duration::from_millis(1500);

/// How long a thread may take from one point to the next.
const BLOCKED: Duration = Duration::from_secs(4);

/// How long the thread whose turn it is may wait in the kernel before others go on: for a class that another thread initialises, or for input.
const WAITS: Duration = Duration::from_millis(60);

/// What Java code asks for; the numbers are in `RavelLayout`.
pub mod kind {
    /// Something that matters to no other thread.
    pub const STEP: i32 = 0;
    /// An access at a site.
    pub const ACCESS: i32 = 1;
    /// A monitor.
    pub const MONITOR: i32 = 2;
    /// A call that may change an object.
    pub const CALL: i32 = 3;
    /// A call that only looks at an object.
    pub const LOOK: i32 = 4;
    /// To give way.
    pub const YIELD: i32 = 5;
    /// To sleep.
    pub const SLEEP: i32 = 6;
    /// To park; no limit if negative.
    pub const PARK: i32 = 7;
    /// To wait for a notification; no limit if negative.
    pub const WAIT: i32 = 8;
    /// To wait for the end of a thread; no limit if negative.
    pub const JOIN: i32 = 9;
    /// To wake a thread that is parked.
    pub const UNPARK: i32 = 10;
    /// To notify a thread that waits.
    pub const NOTIFY: i32 = 11;
    /// To notify all.
    pub const NOTIFY_ALL: i32 = 12;
    /// To interrupt a thread.
    pub const INTERRUPT: i32 = 13;
    /// To end the program.
    pub const EXIT: i32 = 14;
    /// To park while it tries to get a lock or permits.
    pub const TRY: i32 = 15;
    /// To know whether the run goes on.
    pub const LIVES: i32 = 16;
}

/// The answer to Java code.
pub mod answer {
    /// Go on.
    pub const GO: i32 = 0;
    /// The time is over.
    pub const TIMED_OUT: i32 = 1;
    /// The run is over.
    pub const OVER: i32 = 2;
    /// Do it for real.
    pub const FREE: i32 = 3;
}

struct SearchState {
    machine: Machine,
    /// What wakes each thread.
    bells: FxHashMap<u32, Arc<Condvar>>,
    /// Threads that run, by the JVM's word.
    live: usize,
    /// What the kernel says of each thread.
    idle: FxHashMap<u32, Idle>,
    /// When the machine was last seen to move, and at which step.
    moved: (u64, Instant),
    runs: Runs,
}

/// A search in this JVM.
pub struct Search {
    plan: Plan,
    state: Mutex<SearchState>,
    /// Wakes the driver of the runs.
    ended: Condvar,
}

impl Search {
    /// Reads what the command line wrote; what the runs show goes to a file beside it.
    pub fn read(path: &Path) -> Result<Search, String> {
        let plan: Plan = line::read_one(path).map_err(|error| error.to_string())?;
        Ok(Search::new(plan, path.with_extension("found")))
    }

    fn new(plan: Plan, found: PathBuf) -> Search {
        let mut machine = Machine::new(strategy::of(&plan));
        machine.begin(plan.seed);
        Search {
            state: Mutex::new(SearchState {
                machine,
                bells: FxHashMap::default(),
                live: 0,
                idle: FxHashMap::default(),
                moved: (0, Instant::now()),
                runs: Runs::new(plan.inside.clone(), plan.seed, found),
            }),
            plan,
            ended: Condvar::new(),
        }
    }

    /// Whether `main` is run again and again inside this JVM.
    pub fn is_inside(&self) -> bool {
        self.plan.inside.is_some()
    }

    /// Fields whose accesses need no decision.
    pub fn quiet(&self) -> &[String] {
        &self.plan.quiet
    }

    fn lock(&self) -> MutexGuard<'_, SearchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is about to start.
    pub fn add(&self, number: u32, path: String) {
        let mut state = self.lock();
        state.bells.insert(number, Arc::new(Condvar::new()));
        state.live += 1;
        state.machine.add(number, path);
    }

    /// The thread that calls begins to run: it waits for its first turn.
    pub fn begin(&self, number: u32, name: &str, daemon: bool) {
        let mut state = self.lock();
        state.machine.describe(number, name, daemon);
        state.idle.insert(number, Idle::own());
        self.wait(state, number);
    }

    /// A thread comes to a point and waits for its turn.
    pub fn ask(&self, block: &ThreadBlock, request: Request) -> Answer {
        let mut state = self.lock();
        let (_, depth) = block.frames();
        state.machine.rests(block.thread, depth == 0);
        state.machine.ask(block.thread, block.position(), request);
        self.ring(&mut state);
        self.wait(state, block.thread)
    }

    fn wait(&self, mut state: MutexGuard<'_, SearchState>, number: u32) -> Answer {
        let bell = state.bells.get(&number).cloned();
        loop {
            match (state.machine.answer(number), &bell) {
                (Some(answer), _) => return answer,
                (None, None) => return Answer::Free,
                (None, Some(bell)) => {
                    state = bell.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Wakes the thread whose turn it is; all, if the run is over.
    fn ring(&self, state: &mut SearchState) {
        if state.machine.is_over() {
            if self.plan.inside.is_none() {
                state.machine.let_go();
            }
            state.bells.values().for_each(|bell| bell.notify_all());
            self.ended.notify_all();
        } else if let Some(bell) = state.machine.current().and_then(|number| state.bells.get(&number)) {
            bell.notify_all();
        }
    }

    /// Changes something that no thread waits for. Whether the machine still decides.
    pub fn tell(&self, change: impl FnOnce(&mut dyn Told)) -> Answer {
        let mut state = self.lock();
        if state.machine.is_over() {
            return match self.is_inside() {
                true => Answer::Over,
                false => Answer::Free,
            };
        }
        change(&mut state.machine);
        self.ring(&mut state);
        match state.machine.is_over() {
            true if self.is_inside() => Answer::Over,
            true => Answer::Free,
            false => Answer::Go,
        }
    }

    /// Whether the run inside this JVM is over, and its threads are asked to end.
    pub fn is_ending(&self) -> bool {
        self.is_inside() && self.lock().machine.is_over()
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.lock().machine.is_over()
    }

    /// A thread gives a monitor up.
    pub fn gives(&self, number: u32, lock: u64) {
        self.lock().machine.gives(number, lock, false);
    }

    /// A thread blocks where the machine does not see it.
    pub fn goes_outside(&self, number: u32) {
        let mut state = self.lock();
        state.machine.goes_outside(number);
        self.ring(&mut state);
    }

    /// It waits for its turn to go on.
    pub fn comes_back(&self, number: u32) {
        let mut state = self.lock();
        state.machine.comes_back(number);
        self.ring(&mut state);
        self.wait(state, number);
    }

    /// A thread has ended.
    pub fn end(&self, block: &ThreadBlock) {
        let mut state = self.lock();
        state.machine.end(block.thread, block.position());
        state.bells.remove(&block.thread);
        state.idle.remove(&block.thread);
        state.live = state.live.saturating_sub(1);
        self.ring(&mut state);
        self.ended.notify_all();
    }

    /// Looks whether the run still moves, now and then.
    pub fn watch(&self) {
        let mut state = self.lock();
        let steps = state.machine.steps();
        if state.moved.0 != steps {
            state.moved = (steps, Instant::now());
            return;
        }
        if !state.machine.has_threads() || state.machine.is_over() {
            return;
        }
        let since = state.moved.1.elapsed();
        if let Some(current) = state.machine.current()
            && since > WAITS
            && state.waits(current)
            && !Idle::others_are_ready()
        {
            state.machine.goes_outside(current);
            self.ring(&mut state);
        }
        if since > OUTSIDE && state.machine.current().is_none() {
            // What comes from outside the program may still come.
            match state.awaits_input() {
                true => state.machine.cut(),
                false => state.machine.give_up(),
            }
            self.ring(&mut state);
        }
        // The thread whose turn it is does not come to its next point, and does not wait either.
        if since > BLOCKED {
            state.machine.cut();
            self.ring(&mut state);
        }
    }
}

impl SearchState {
    /// Whether a thread waits in the kernel, and has for a while.
    fn waits(&mut self, number: u32) -> bool {
        let seen = self.idle.get_mut(&number).map(Idle::look);
        matches!(seen, Some((Sleep::Waits | Sleep::Outside, since)) if since > WAITS)
    }

    /// Whether a thread that the machine does not see waits for a file, a socket or a process.
    fn awaits_input(&mut self) -> bool {
        let (outside, idle) = (self.machine.outside(), &mut self.idle);
        let is_input = |number| idle.get_mut(number).is_some_and(|idle| idle.look().0 == Sleep::Outside);
        outside.iter().any(is_input)
    }
}

/// What threads tell the machine without waiting for it.
pub trait Told {
    /// A thread is given the permit that a park waits for.
    fn unpark(&mut self, number: u32);
    /// One thread that waits for this monitor, or all.
    fn notify(&mut self, lock: u64, all: bool);
    /// A thread is interrupted.
    fn interrupt(&mut self, number: u32);
    /// The program asks to be ended.
    fn exit(&mut self, status: i32);
}

impl Told for Machine {
    fn unpark(&mut self, number: u32) {
        Machine::unpark(self, number);
    }

    fn notify(&mut self, lock: u64, all: bool) {
        Machine::notify(self, lock, all);
    }

    fn interrupt(&mut self, number: u32) {
        Machine::interrupt(self, number);
    }

    fn exit(&mut self, status: i32) {
        Machine::exit(self, status);
    }
}

/// What a thread of the program asks for or tells, as Java code has it; `thread` is the address of its block.
pub fn requested(thread: i64, request: i32, a: i64, b: i64) -> i32 {
    let Some(agent) = agent() else { return answer::FREE };
    let Some(search) = &agent.search else {
        return answer::FREE;
    };
    let told = match request {
        kind::UNPARK => Some(search.tell(|machine| machine.unpark(a as u32))),
        kind::INTERRUPT => Some(search.tell(|machine| machine.interrupt(a as u32))),
        kind::NOTIFY => Some(search.tell(|machine| machine.notify(a as u64, false))),
        kind::NOTIFY_ALL => Some(search.tell(|machine| machine.notify(a as u64, true))),
        kind::LIVES => Some(search.tell(|_| ())),
        kind::EXIT => Some(search.tell(|machine| machine.exit(a as i32))),
        _ => None,
    };
    if let Some(told) = told {
        return number(told);
    }
    if thread == 0 {
        return answer::FREE;
    }
    // SAFETY: `ravel$t` holds 0 or the address of the block of a thread that has not ended; the thread that calls is the block's own.
    let block = unsafe { &*(thread as *const ThreadBlock) };
    let limit = u64::try_from(b).ok();
    let object = a as u64;
    let request = match request {
        kind::ACCESS => Request::Do(agent.recorder.op_at(a as usize)),
        kind::MONITOR => Request::Do(Op::Monitor(object)),
        kind::CALL => Request::Do(Op::Call { object, writes: true }),
        kind::LOOK => Request::Do(Op::Call { object, writes: false }),
        kind::YIELD => Request::Yield,
        kind::SLEEP => Request::Sleep(limit.unwrap_or(0)),
        kind::PARK => Request::Park(limit),
        kind::TRY => limit.map_or(Request::Park(None), Request::Try),
        kind::WAIT => Request::Wait(object, limit),
        kind::JOIN => Request::Join(a as u32, limit),
        _ => Request::Do(Op::Step),
    };
    let answer = search.ask(block, request);
    // What this thread does now comes after what the others did in their turns.
    agent.recorder.tick();
    number(answer)
}

fn number(answer: Answer) -> i32 {
    match answer {
        Answer::Go => answer::GO,
        Answer::TimedOut => answer::TIMED_OUT,
        Answer::Over => answer::OVER,
        Answer::Free => answer::FREE,
    }
}
