//! A controlled run: what each thread is about to do, which threads can go on, and whose turn it is.
//!
//! Exactly one thread runs. It comes to a point, says what it is about to do, and the strategy chooses among the threads that can go on.
//! Monitors, waits, parks, joins and sleeps are the machine's: a thread that would block is not among them. Time is not the machine's
//! clock: a long sleep or a limited wait ends when no thread can go on otherwise, the nearest first. A short sleep orders no threads, so
//! it may end at once: the others were slow. So may a short attempt to get a lock, and a short wait for the end of a thread. A thread that blocks where the machine
//! does not see it, in code of the JDK or before a class that another thread initialises, is *outside* until it comes back.
//!
//! Knows no JVM and no clock; `mod.rs` makes threads wait for it.

mod conflicts;

use ravel_protocol::{Leave, Schedule, ThreadName};
use rustc_hash::FxHashMap;

use conflicts::OrderOfConflicts;

use super::strategy::{Op, Past, Ready, Strategy, number_of, path_number};

/// Steps after which a run counts as one that does not end.
const MOST_STEPS: u64 = 50_000;
/// Steps in a row at few different operations after which a thread counts as one that only waits for another.
const SPIN: u32 = 24;
/// How many different operations that are.
const SPIN_OPS: usize = 4;
/// Nanoseconds by which other threads may be late. A thread that sleeps longer may be one that ends a program which takes too long.
pub const LATE: u64 = 250_000_000;

/// What a thread asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// To do something.
    Do(Op),
    /// To let others go first: it has nothing to do.
    Yield,
    /// To sleep so many nanoseconds.
    Sleep(u64),
    /// To be parked, so many nanoseconds at most.
    Park(Option<u64>),
    /// The same while it tries to get a lock or permits: it gives up after so many nanoseconds.
    Try(u64),
    /// To wait for a notification of a monitor that it holds, so many nanoseconds at most.
    Wait(u64, Option<u64>),
    /// To wait for the end of a thread, so many nanoseconds at most.
    Join(u32, Option<u64>),
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It was granted.
    Go,
    /// The time that it gave is over.
    TimedOut,
    /// The run is over: the thread is to end.
    Over,
    /// The machine has let go: the thread is to do for real what it asked for.
    Free,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All threads that keep a program alive have ended.
    Ended,
    /// No thread can go on: the ways in which they wait, with their paths.
    Stuck(Vec<String>),
    /// It did not end in time.
    TooLong,
    /// The program asked to be ended.
    Exit(i32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    Runs,
    Ready(Op),
    Monitor { lock: u64, depth: u32 },
    Waits { lock: u64, depth: u32, wake: Option<u64> },
    Parked { wake: Option<u64> },
    Tries { wake: u64 },
    Joins { other: u32, wake: Option<u64> },
    Sleeps { wake: u64 },
    Outside,
    Ended,
}

struct ThreadState {
    number: u32,
    path: String,
    path_number: u64,
    name: String,
    daemon: bool,
    doing: Doing,
    answer: Answer,
    /// An unpark that came before its park.
    permit: bool,
    /// It was interrupted and has not asked since.
    woken: bool,
    /// It runs no code of the program: if it parks, it has no task.
    rests: bool,
    /// Its wait for the end of a thread is over before that end. The JVM does not know, and has it wait for a moment.
    gave_up: bool,
    /// It gives way until another thread has gone.
    yields: bool,
    /// Points passed, and the visits to this one.
    at: (u32, u32),
    /// Where its last turn ended in the schedule.
    operations: u32,
}

impl ThreadState {
    /// Comes to a point of a run that is over.
    fn ask_freed(&mut self, request: Request) {
        self.answer = match request {
            // The permit was the machine's: no real park would find it.
            Request::Park(_) | Request::Try(_) if std::mem::take(&mut self.permit) => Answer::Go,
            _ => Answer::Free,
        };
        self.doing = Doing::Runs;
    }

    /// What becomes of its request once the machine has let go: it blocks for real only if it was blocked.
    fn freed(&self) -> Answer {
        match self.doing {
            Doing::Waits { .. }
            | Doing::Parked { .. }
            | Doing::Tries { .. }
            | Doing::Joins { .. }
            | Doing::Sleeps { .. } => Answer::Free,
            _ => self.answer,
        }
    }
}

/// A run, and what is kept from one to the next.
pub struct Machine {
    strategy: Box<dyn Strategy>,
    threads: Vec<ThreadState>,
    by_number: FxHashMap<u32, usize>,
    /// Owner and depth.
    monitors: FxHashMap<u64, (u32, u32)>,
    now: u64,
    current: Option<usize>,
    last: Option<usize>,
    steps: u64,
    /// The streak of the thread that went last, and what it did in it.
    streak: (u32, Vec<Op>),
    schedule: Schedule,
    order: OrderOfConflicts,
    ending: Option<Ending>,
    free: bool,
}

impl Machine {
    /// Nothing runs yet.
    pub fn new(strategy: Box<dyn Strategy>) -> Machine {
        Machine {
            strategy,
            threads: Vec::new(),
            by_number: FxHashMap::default(),
            monitors: FxHashMap::default(),
            now: 0,
            current: None,
            last: None,
            steps: 0,
            streak: (0, Vec::new()),
            schedule: Schedule::default(),
            order: OrderOfConflicts::default(),
            ending: None,
            free: false,
        }
    }

    /// A run begins.
    pub fn begin(&mut self, seed: u64) {
        self.threads.clear();
        self.by_number.clear();
        self.monitors.clear();
        self.now = 0;
        (self.current, self.last, self.steps) = (None, None, 0);
        self.streak = (0, Vec::new());
        self.schedule = Schedule {
            controlled: true,
            ..Schedule::default()
        };
        self.order = OrderOfConflicts::default();
        self.ending = None;
        self.free = false;
        self.strategy.begin(seed);
    }

    /// A thread is about to start. The first of a run goes at once.
    pub fn add(&mut self, number: u32, path: String) {
        let first = self.threads.is_empty();
        self.by_number.insert(number, self.threads.len());
        self.threads.push(ThreadState {
            number,
            path_number: path_number(&path),
            name: path.clone(),
            path,
            daemon: false,
            doing: Doing::Ready(Op::Step),
            answer: Answer::Go,
            permit: false,
            woken: false,
            rests: false,
            gave_up: false,
            yields: false,
            at: (0, 1),
            operations: 0,
        });
        if first {
            self.pick();
        }
    }

    /// What the program calls a thread, and whether it keeps the program alive.
    pub fn describe(&mut self, number: u32, name: &str, daemon: bool) {
        if let Some(thread) = self.index(number) {
            self.threads[thread].name = name.to_string();
            self.threads[thread].daemon = daemon;
        }
    }

    /// Whether a thread runs code of the program, at the point that it comes to.
    pub fn rests(&mut self, number: u32, rests: bool) {
        if let Some(index) = self.index(number) {
            self.threads[index].rests = rests;
        }
    }

    fn index(&self, number: u32) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// A thread comes to a point, after so many others.
    pub fn ask(&mut self, number: u32, position: u32, request: Request) {
        let Some(index) = self.index(number) else { return };
        if self.is_over() {
            self.threads[index].ask_freed(request);
            return;
        }
        let (now, monitors) = (self.now, &mut self.monitors);
        let thread = &mut self.threads[index];
        thread.at = match thread.at {
            (same, times) if same == position => (same, times + 1),
            _ => (position, 1),
        };
        thread.answer = Answer::Go;
        thread.gave_up = false;
        let woken = std::mem::take(&mut thread.woken);
        let wake = |nanos: Option<u64>| nanos.map(|nanos| now.saturating_add(nanos));
        thread.doing = match request {
            Request::Do(Op::Monitor(lock)) => Doing::Monitor { lock, depth: 1 },
            Request::Do(op) => Doing::Ready(op),
            Request::Yield => {
                thread.yields = true;
                Doing::Ready(Op::Step)
            }
            // An interrupted thread does not wait.
            Request::Sleep(_) | Request::Park(_) | Request::Try(_) | Request::Join(..) if woken => {
                Doing::Ready(Op::Step)
            }
            Request::Sleep(nanos) => Doing::Sleeps {
                wake: now.saturating_add(nanos),
            },
            Request::Park(_) | Request::Try(_) if thread.permit => {
                thread.permit = false;
                Doing::Ready(Op::Step)
            }
            Request::Park(nanos) => Doing::Parked { wake: wake(nanos) },
            Request::Try(nanos) => Doing::Tries {
                wake: now.saturating_add(nanos),
            },
            Request::Wait(lock, nanos) => {
                let depth = match monitors.get(&lock) {
                    Some((owner, depth)) if *owner == number => *depth,
                    _ => 1,
                };
                monitors.remove(&lock);
                match woken {
                    true => Doing::Monitor { lock, depth },
                    false => Doing::Waits {
                        lock,
                        depth,
                        wake: wake(nanos),
                    },
                }
            }
            Request::Join(other, nanos) => Doing::Joins {
                other,
                wake: wake(nanos),
            },
        };
        self.pass_on(index);
    }

    /// The thread that runs does not go on by itself.
    fn pass_on(&mut self, index: usize) {
        if self.current == Some(index) {
            self.current = None;
            self.last = Some(index);
        }
        if self.current.is_none() {
            self.pick();
        }
    }

    /// A thread gives a monitor up, one level of it or all.
    pub fn gives(&mut self, number: u32, lock: u64, all: bool) {
        if let Some((owner, depth)) = self.monitors.get_mut(&lock)
            && *owner == number
        {
            *depth -= 1;
            if *depth == 0 || all {
                self.monitors.remove(&lock);
            }
        }
    }

    /// A thread is given the permit that a park waits for.
    pub fn unpark(&mut self, number: u32) {
        if let Some(index) = self.index(number) {
            let thread = &mut self.threads[index];
            match thread.doing {
                Doing::Parked { .. } | Doing::Tries { .. } => thread.doing = Doing::Ready(Op::Step),
                _ => thread.permit = true,
            }
            self.stir();
        }
    }

    /// One thread that waits for this monitor, or all, may go on once it is free: those that have waited longest first.
    pub fn notify(&mut self, lock: u64, all: bool) {
        for thread in &mut self.threads {
            if let Doing::Waits { lock: own, depth, .. } = thread.doing
                && own == lock
            {
                thread.doing = Doing::Monitor { lock, depth };
                if !all {
                    break;
                }
            }
        }
        self.stir();
    }

    /// A thread is interrupted.
    pub fn interrupt(&mut self, number: u32) {
        if let Some(index) = self.index(number) {
            let thread = &mut self.threads[index];
            thread.doing = match thread.doing {
                Doing::Waits { lock, depth, .. } => Doing::Monitor { lock, depth },
                Doing::Parked { .. } | Doing::Tries { .. } | Doing::Sleeps { .. } | Doing::Joins { .. } => {
                    Doing::Ready(Op::Step)
                }
                other => {
                    thread.woken = true;
                    other
                }
            };
            self.stir();
        }
    }

    /// A thread blocks in code that the machine does not see.
    pub fn goes_outside(&mut self, number: u32) {
        if let Some(index) = self.index(number)
            && self.threads[index].doing == Doing::Runs
            && !self.threads[index].gave_up
        {
            self.threads[index].doing = Doing::Outside;
            self.pass_on(index);
        }
    }

    /// It goes on, as soon as it is its turn.
    pub fn comes_back(&mut self, number: u32) {
        if let Some(index) = self.index(number)
            && self.threads[index].doing == Doing::Outside
        {
            self.threads[index].doing = Doing::Ready(Op::Step);
            self.stir();
        }
    }

    /// A thread has ended.
    pub fn end(&mut self, number: u32, position: u32) {
        let Some(index) = self.index(number) else { return };
        let thread = &mut self.threads[index];
        if thread.doing == Doing::Ended {
            return;
        }
        // Its last turn goes on to its end.
        thread.at = (position, u32::MAX);
        thread.doing = Doing::Ended;
        // A thread that ends holds nothing.
        self.monitors.retain(|_, (owner, _)| *owner != number);
        for other in &mut self.threads {
            if matches!(other.doing, Doing::Joins { other, .. } if other == number) {
                other.doing = Doing::Ready(Op::Step);
            }
        }
        if self.is_over() {
            return;
        }
        self.note_turn(index);
        if !self.threads.iter().any(|t| t.doing != Doing::Ended && !t.daemon) {
            self.over(Ending::Ended);
        }
        self.pass_on(index);
    }

    /// The program asks to be ended.
    pub fn exit(&mut self, status: i32) {
        if !self.is_over() {
            self.over(Ending::Exit(status));
        }
    }

    /// Something has changed while no thread runs.
    fn stir(&mut self) {
        if self.current.is_none() {
            self.pick();
        }
    }

    fn over(&mut self, ending: Ending) {
        if let Some(index) = self.current.or(self.last) {
            self.note_turn(index);
        }
        self.ending = Some(ending);
        self.current = None;
    }

    /// Whether a thread can go on.
    fn is_ready(&self, thread: &ThreadState) -> bool {
        match thread.doing {
            Doing::Ready(_) => true,
            Doing::Sleeps { wake } | Doing::Tries { wake } => self.may_elapse(wake),
            Doing::Monitor { lock, .. } => self
                .monitors
                .get(&lock)
                .is_none_or(|(owner, _)| *owner == thread.number),
            Doing::Joins { other, wake } => self.has_ended(other) || wake.is_some_and(|wake| self.may_elapse(wake)),
            _ => false,
        }
    }

    /// Whether other threads may be so late that a limit goes by.
    fn may_elapse(&self, wake: u64) -> bool {
        wake.saturating_sub(self.now) <= LATE
    }

    /// Whether a thread has ended, or is not known.
    fn has_ended(&self, number: u32) -> bool {
        self.index(number)
            .is_none_or(|other| self.threads[other].doing == Doing::Ended)
    }

    fn ready(&self) -> Vec<Ready> {
        let all = self.threads.iter().enumerate();
        all.filter(|(_, thread)| self.is_ready(thread))
            .map(|(index, thread)| Ready {
                thread: index,
                path: thread.path_number,
                op: match thread.doing {
                    Doing::Ready(op) => op,
                    Doing::Monitor { lock, .. } => Op::Monitor(lock),
                    _ => Op::Step,
                },
                at: thread.at,
            })
            .collect()
    }

    /// Gives the turn to a thread that can go on.
    fn pick(&mut self) {
        if self.is_over() || self.threads.is_empty() {
            return;
        }
        let mut ready = self.ready();
        while ready.is_empty() && self.elapse() {
            ready = self.ready();
        }
        if ready.is_empty() {
            let outside = self.threads.iter().any(|thread| thread.doing == Doing::Outside);
            if !outside {
                self.stuck();
            }
            return;
        }
        if self.steps >= MOST_STEPS {
            self.over(Ending::TooLong);
            return;
        }
        // Threads that have nothing to do go when no other thread can.
        if ready.iter().any(|one| !self.threads[one.thread].yields) {
            ready.retain(|one| !self.threads[one.thread].yields);
        }
        let last = self.last.filter(|last| ready.iter().any(|one| one.thread == *last));
        let chosen = match ready.len() {
            1 => 0,
            many => {
                let order = self.order.sum;
                self.strategy.choose(&ready, Past { last, order }).min(many - 1)
            }
        };
        self.grant(&ready, chosen);
    }

    fn grant(&mut self, ready: &[Ready], chosen: usize) {
        let one = ready[chosen];
        let index = one.thread;
        self.steps += 1;
        if self.last != Some(index) {
            if let Some(last) = self.last {
                self.note_turn(last);
            }
            self.streak = (0, Vec::new());
            // Another thread has gone: those that gave way look again.
            for thread in &mut self.threads {
                thread.yields = false;
            }
        }
        self.streak.0 += 1;
        if !self.streak.1.contains(&one.op) && self.streak.1.len() <= SPIN_OPS {
            self.streak.1.push(one.op);
        }
        let spins = self.streak.0 > SPIN && self.streak.1.len() <= SPIN_OPS;
        if spins {
            self.threads[index].yields = true;
            self.streak = (0, Vec::new());
        }
        self.strategy.goes(ready, chosen, spins);
        let elapses = match self.threads[index].doing {
            Doing::Sleeps { wake } | Doing::Tries { wake } => Some(wake),
            Doing::Joins { other, wake } if !self.has_ended(other) => wake,
            _ => None,
        };
        let thread = &mut self.threads[index];
        thread.gave_up |= elapses.is_some() && matches!(thread.doing, Doing::Joins { .. });
        thread.operations += 1;
        self.order
            .done(number_of(&(thread.path_number, thread.operations)), one.op);
        if let Doing::Monitor { lock, depth } = thread.doing {
            let held = self.monitors.entry(lock).or_insert((thread.number, 0));
            held.1 += depth;
        }
        if let Some(wake) = elapses {
            self.now = self.now.max(wake);
            thread.answer = Answer::TimedOut;
        }
        thread.doing = Doing::Runs;
        self.current = Some(index);
        self.last = Some(index);
    }

    /// Lets the nearest time limit of a thread that waits go by. False if there is none.
    fn elapse(&mut self) -> bool {
        let wake = |thread: &ThreadState| match thread.doing {
            Doing::Sleeps { wake } | Doing::Tries { wake } => Some(wake),
            Doing::Parked { wake } | Doing::Waits { wake, .. } | Doing::Joins { wake, .. } => wake,
            _ => None,
        };
        // Time goes by for threads that are outside as well: they may come back first.
        if self.threads.iter().any(|thread| thread.doing == Doing::Outside) {
            return false;
        }
        let Some(nearest) = self.threads.iter().filter_map(wake).min() else {
            return false;
        };
        self.now = self.now.max(nearest);
        for thread in &mut self.threads {
            if wake(thread) == Some(nearest) {
                thread.answer = Answer::TimedOut;
                thread.gave_up = matches!(thread.doing, Doing::Joins { .. });
                thread.doing = match thread.doing {
                    Doing::Waits { lock, depth, .. } => Doing::Monitor { lock, depth },
                    _ => Doing::Ready(Op::Step),
                };
            }
        }
        true
    }

    fn stuck(&mut self) {
        // No thread shuts the pool down: the program has done its work.
        let has_done = |thread: &ThreadState| match thread.doing {
            Doing::Ended => true,
            Doing::Parked { .. } => thread.rests,
            _ => thread.daemon,
        };
        if self.threads.iter().all(has_done) {
            return self.over(Ending::Ended);
        }
        let waits = self.threads.iter().filter_map(|thread| {
            let how = match thread.doing {
                Doing::Monitor { .. } => "monitor",
                Doing::Waits { .. } => "wait",
                Doing::Parked { .. } | Doing::Tries { .. } => "park",
                Doing::Joins { .. } => "join",
                Doing::Outside => "outside",
                _ => return None,
            };
            Some(format!("{how} {}", thread.path))
        });
        let mut waits: Vec<String> = waits.collect();
        waits.sort_unstable();
        self.over(Ending::Stuck(waits));
    }

    /// The threads that are outside do not come back: the run stands still.
    pub fn give_up(&mut self) {
        if !self.is_over() && self.current.is_none() {
            self.stuck();
        }
    }

    /// Ends a run that does not end.
    pub fn cut(&mut self) {
        if !self.is_over() {
            self.over(Ending::TooLong);
        }
    }

    /// Lets all threads do for real what they asked for, from now on. What the machine has told a thread holds: one that was notified,
    /// given a permit or timed out does not wait again.
    pub fn let_go(&mut self) {
        self.free = true;
    }

    fn note_turn(&mut self, index: usize) {
        let thread = &self.threads[index];
        // A thread that blocked outside had passed the point.
        let (until, times) = match thread.doing {
            Doing::Outside => (thread.at.0, thread.at.1.saturating_add(1)),
            _ => thread.at,
        };
        let name = ThreadName {
            path: thread.path.clone(),
            name: thread.name.clone(),
        };
        let leave = (times > 1).then_some(Leave::Times(times));
        let known = self.schedule.threads.iter().position(|known| known.path == name.path);
        let place = known.unwrap_or_else(|| {
            self.schedule.threads.push(name);
            self.schedule.threads.len() - 1
        });
        let segment = ravel_protocol::Segment {
            thread: place,
            until,
            leave,
        };
        if self.schedule.segments.last() != Some(&segment) {
            self.schedule.segments.push(segment);
        }
    }

    /// What becomes of a thread's request; none as long as it is another thread's turn.
    pub fn answer(&self, number: u32) -> Option<Answer> {
        let Some(index) = self.index(number) else {
            return Some(Answer::Free);
        };
        if self.free {
            return Some(self.threads[index].freed());
        }
        if self.ending.is_some() {
            return Some(Answer::Over);
        }
        (self.current == Some(index)).then_some(self.threads[index].answer)
    }

    /// The thread whose turn it is.
    pub fn current(&self) -> Option<u32> {
        self.current.map(|index| self.threads[index].number)
    }

    /// Threads that block where the machine does not see it.
    pub fn outside(&self) -> Vec<u32> {
        let outside = self.threads.iter().filter(|thread| thread.doing == Doing::Outside);
        outside.map(|thread| thread.number).collect()
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether threads of the run live.
    pub fn has_threads(&self) -> bool {
        self.threads.iter().any(|thread| thread.doing != Doing::Ended)
    }

    /// How the run ended.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The turns of the run so far.
    pub fn schedule(&self) -> Schedule {
        self.schedule.clone()
    }

    /// The order in which conflicting operations came.
    pub fn order(&self) -> u64 {
        self.order.sum
    }
}

#[cfg(test)]
mod tests;
