//! A controlled run: what each thread is about to do, which threads can go on, and whose turn it is.
//!
//! Exactly one thread runs. It comes to a point, says what it is about to do, and the strategy chooses among the threads that can go on.
//! Monitors, waits, parks, joins and sleeps are the machine's: a thread that would block is not among them. Time is not the machine's
//! clock: a long sleep or a limited wait ends when no thread can go on otherwise, the nearest first. A short sleep orders no threads, so
//! it may end at once: the others were slow. A thread that blocks where the machine
//! does not see it, in code of the JDK, is *outside* until it comes back.
//!
//! Knows no JVM and no clock; `mod.rs` makes threads wait for it.

use ravel_protocol::{Leave, Schedule, ThreadName};
use rustc_hash::FxHashMap;

use super::strategy::{Op, Past, Ready, Strategy, number_of, path_number};

/// Steps after which a run counts as one that does not end.
const MOST_STEPS: u64 = 50_000;
/// Steps in a row at few different operations after which a thread counts as one that only waits for another.
const SPIN: u32 = 24;
/// How many different operations that are.
const SPIN_OPS: usize = 4;
/// Nanoseconds by which other threads may be late. A thread that sleeps longer may be one that ends a program which takes too long.
const LATE: u64 = 250_000_000;

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
    /// To wait for a notification of a monitor that it holds, so many nanoseconds at most.
    Wait(u64, Option<u64>),
    /// To wait for the end of a thread.
    Join(u32),
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
    Joins(u32),
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
            Request::Park(_) if std::mem::take(&mut self.permit) => Answer::Go,
            _ => Answer::Free,
        };
        self.doing = Doing::Runs;
    }

    /// What becomes of its request once the machine has let go: it blocks for real only if it was blocked.
    fn freed(&self) -> Answer {
        match self.doing {
            Doing::Waits { .. } | Doing::Parked { .. } | Doing::Joins(_) | Doing::Sleeps { .. } => Answer::Free,
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
            Request::Sleep(_) | Request::Park(_) if woken => Doing::Ready(Op::Step),
            Request::Sleep(nanos) => Doing::Sleeps {
                wake: now.saturating_add(nanos),
            },
            Request::Park(_) if thread.permit => {
                thread.permit = false;
                Doing::Ready(Op::Step)
            }
            Request::Park(nanos) => Doing::Parked { wake: wake(nanos) },
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
            Request::Join(other) => Doing::Joins(other),
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
                Doing::Parked { .. } => thread.doing = Doing::Ready(Op::Step),
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
                Doing::Parked { .. } | Doing::Sleeps { .. } => Doing::Ready(Op::Step),
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
            if other.doing == Doing::Joins(number) {
                other.doing = Doing::Ready(Op::Step);
            }
        }
        self.note_turn(index);
        if !self.is_over() && !self.threads.iter().any(|t| t.doing != Doing::Ended && !t.daemon) {
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
        if let Some(index) = self.current {
            self.note_turn(index);
        }
        self.ending = Some(ending);
        self.current = None;
    }

    /// Whether a thread can go on.
    fn is_ready(&self, thread: &ThreadState) -> bool {
        match thread.doing {
            Doing::Ready(_) => true,
            Doing::Sleeps { wake } => wake.saturating_sub(self.now) <= LATE,
            Doing::Monitor { lock, .. } => self
                .monitors
                .get(&lock)
                .is_none_or(|(owner, _)| *owner == thread.number),
            Doing::Joins(other) => self
                .index(other)
                .is_none_or(|other| self.threads[other].doing == Doing::Ended),
            _ => false,
        }
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
        self.order.done(&mut self.threads[index], one.op);
        let thread = &mut self.threads[index];
        if let Doing::Monitor { lock, depth } = thread.doing {
            let held = self.monitors.entry(lock).or_insert((thread.number, 0));
            held.1 += depth;
        }
        if let Doing::Sleeps { wake } = thread.doing {
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
            Doing::Sleeps { wake } => Some(wake),
            Doing::Parked { wake } | Doing::Waits { wake, .. } => wake,
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
                thread.doing = match thread.doing {
                    Doing::Waits { lock, depth, .. } => Doing::Monitor { lock, depth },
                    _ => Doing::Ready(Op::Step),
                };
            }
        }
        true
    }

    fn stuck(&mut self) {
        let waits = self.threads.iter().filter_map(|thread| {
            let how = match thread.doing {
                Doing::Monitor { .. } => "monitor",
                Doing::Waits { .. } => "wait",
                Doing::Parked { .. } => "park",
                Doing::Joins(_) => "join",
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
        let (until, times) = thread.at;
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

/// The order of conflicting operations in a number: two runs that differ only in the order of operations that do not conflict have
/// the same.
#[derive(Default)]
struct OrderOfConflicts {
    /// By what the operations touch: the last that wrote, and those that have read since.
    touched: FxHashMap<(u8, u64), (u64, u64)>,
    /// Objects by the operation that touched them first: their ids mean nothing in another run.
    names: FxHashMap<u64, u64>,
    sum: u64,
}

impl OrderOfConflicts {
    fn done(&mut self, thread: &mut ThreadState, op: Op) {
        thread.operations += 1;
        let own = number_of(&(thread.path_number, thread.operations));
        let mut name = |object: u64| *self.names.entry(object).or_insert(own);
        let (key, writes) = match op {
            Op::Step => return,
            Op::Access { field, writes } => ((0, u64::from(field)), writes),
            Op::Monitor(lock) => ((1, name(lock)), true),
            Op::Call { object, writes } => ((1, name(object)), writes),
        };
        let (written, read) = self.touched.entry(key).or_default();
        let after = number_of(&(own, *written, if writes { *read } else { 0 }));
        if writes {
            (*written, *read) = (after, 0);
        } else {
            *read ^= after;
        }
        self.sum ^= after;
    }
}

#[cfg(test)]
mod tests {
    use ravel_protocol::{Search, StrategyKind};

    use super::super::strategy;
    use super::*;

    /// What a thread of a test does next.
    #[derive(Clone, Copy)]
    enum Act {
        Ask(Request),
        Give(u64),
        Notify(u64),
        Unpark(u32),
    }

    use Act::{Ask, Give, Notify, Unpark};

    fn access(field: u32) -> Act {
        Ask(Request::Do(Op::Access { field, writes: true }))
    }

    fn take(lock: u64) -> Act {
        Ask(Request::Do(Op::Monitor(lock)))
    }

    fn machine(strategy: StrategyKind) -> Machine {
        Machine::new(strategy::of(&Search {
            strategy,
            seed: 0,
            inside: None,
            follow: None,
            quiet: Vec::new(),
        }))
    }

    /// Runs these threads to the end of the run; the threads in the order in which they asked.
    fn run(machine: &mut Machine, seed: u64, threads: &[&[Act]]) -> Vec<(u32, Answer)> {
        machine.begin(seed);
        // Thread 9 starts the others and ends.
        machine.add(9, "main".into());
        for number in 0..threads.len() as u32 {
            machine.add(number, format!("main/{number}"));
        }
        machine.end(9, 0);
        let mut next = vec![0; threads.len()];
        let mut went = Vec::new();
        while let Some(number) = machine.current() {
            let thread = number as usize;
            if let Some(answer) = machine.answer(number) {
                went.push((number, answer));
            }
            match threads[thread].get(next[thread]) {
                None => machine.end(number, next[thread] as u32),
                Some(act) => {
                    next[thread] += 1;
                    match *act {
                        Ask(request) => machine.ask(number, next[thread] as u32, request),
                        Give(lock) => machine.gives(number, lock, false),
                        Notify(lock) => machine.notify(lock, false),
                        Unpark(other) => machine.unpark(other),
                    }
                }
            }
        }
        went
    }

    fn endings(threads: &[&[Act]]) -> Vec<Ending> {
        let mut machine = machine(StrategyKind::Guided);
        let mut endings = Vec::new();
        for seed in 0..200 {
            run(&mut machine, seed, threads);
            let ending = machine.ending().cloned().expect("a run ends");
            if !endings.contains(&ending) {
                endings.push(ending);
            }
        }
        endings
    }

    #[test]
    fn two_locks_in_opposite_orders_deadlock_in_some_runs() {
        let one = [take(1), take(2), Give(2), Give(1)];
        let other = [take(2), take(1), Give(1), Give(2)];
        let found = endings(&[&one, &other]);
        let stuck = Ending::Stuck(vec!["monitor main/0".into(), "monitor main/1".into()]);
        assert!(found.contains(&stuck) && found.contains(&Ending::Ended), "{found:?}");
        assert_eq!(endings(&[&one, &one]), [Ending::Ended]);
    }

    #[test]
    fn a_monitor_is_held_by_one_thread_at_a_time() {
        let thread = [take(1), access(7), access(8), Give(1)];
        let mut machine = machine(StrategyKind::Random);
        for seed in 0..50 {
            let went = run(&mut machine, seed, &[&thread, &thread]);
            let inside: Vec<u32> = went.iter().map(|(number, _)| *number).collect();
            let first = inside.iter().position(|number| *number == 1);
            assert!(first.is_some());
            assert_eq!(machine.ending(), Some(&Ending::Ended));
        }
    }

    #[test]
    fn a_lost_notification_leaves_its_thread_waiting() {
        let waits = [take(1), Ask(Request::Wait(1, None)), Give(1)];
        let notifies = [take(1), Notify(1), Give(1)];
        let found = endings(&[&waits, &notifies]);
        assert!(found.contains(&Ending::Stuck(vec!["wait main/0".into()])), "{found:?}");
        assert!(found.contains(&Ending::Ended), "{found:?}");
        // A wait with a limit ends by itself.
        let limited = [take(1), Ask(Request::Wait(1, Some(5))), Give(1)];
        assert_eq!(endings(&[&limited, &notifies]), [Ending::Ended]);
    }

    #[test]
    fn an_unpark_counts_before_its_park() {
        let parks = [Ask(Request::Park(None)), access(1)];
        let wakes = [access(2), Unpark(0)];
        assert_eq!(endings(&[&parks, &wakes]), [Ending::Ended]);
        assert_eq!(endings(&[&parks]), [Ending::Stuck(vec!["park main/0".into()])]);
    }

    #[test]
    fn long_sleeps_end_when_no_other_thread_can_go_and_the_shortest_first() {
        let long = [Ask(Request::Sleep(9 * LATE)), access(1)];
        let short = [Ask(Request::Sleep(5 * LATE)), access(1)];
        let works = [access(2), access(3), access(4)];
        let mut machine = machine(StrategyKind::Random);
        for seed in 0..20 {
            let went = run(&mut machine, seed, &[&long, &short, &works]);
            let ended: Vec<u32> = went
                .iter()
                .filter(|(_, answer)| *answer == Answer::TimedOut)
                .map(|(number, _)| *number)
                .collect();
            assert_eq!(ended, [1, 0]);
            let last = went.iter().rposition(|(number, _)| *number == 2);
            let woken = went.iter().position(|(_, answer)| *answer == Answer::TimedOut);
            assert!(last < woken, "{went:?}");
        }
    }

    #[test]
    fn a_short_sleep_orders_no_threads() {
        let sleeps = [Ask(Request::Sleep(100_000_000)), access(1)];
        let works = [access(1), access(1)];
        let mut machine = machine(StrategyKind::Random);
        let mut first = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let went = run(&mut machine, seed, &[&sleeps, &works]);
            let woken = went.iter().position(|(_, answer)| *answer == Answer::TimedOut);
            let last = went.iter().rposition(|(number, _)| *number == 1);
            first.insert(woken < last);
        }
        assert_eq!(first.len(), 2, "the sleep ends before the work, and after it");
    }

    #[test]
    fn a_thread_that_spins_lets_the_others_go() {
        let mut machine = machine(StrategyKind::Priorities);
        let spins = [access(1); 2000];
        let works = [access(2)];
        for seed in 0..20 {
            let went = run(&mut machine, seed, &[&spins, &works]);
            let at = went.iter().position(|(number, _)| *number == 1);
            assert!(at.is_some_and(|at| at < 200), "{at:?}");
        }
    }

    #[test]
    fn the_order_of_a_run_can_be_followed() {
        let one = [take(1), access(5), Give(1), access(6), access(5)];
        let other = [access(5), take(1), access(6), Give(1), access(5)];
        let mut random = machine(StrategyKind::Random);
        for seed in 0..50 {
            let went = run(&mut random, seed, &[&one, &other]);
            let (order, schedule) = (random.order(), random.schedule());
            let mut follows = Machine::new(strategy::of(&Search {
                strategy: StrategyKind::Random,
                seed: 0,
                inside: None,
                follow: Some(schedule),
                quiet: Vec::new(),
            }));
            assert_eq!(run(&mut follows, 99, &[&one, &other]), went, "seed {seed}");
            assert_eq!(follows.order(), order);
        }
    }

    #[test]
    fn orders_of_accesses_that_do_not_conflict_are_one() {
        let orders = |one: &[Act], other: &[Act]| {
            let mut machine = machine(StrategyKind::Random);
            let mut found = std::collections::BTreeSet::new();
            for seed in 0..200 {
                run(&mut machine, seed, &[one, other]);
                found.insert(machine.order());
            }
            found.len()
        };
        let read = |field| Ask(Request::Do(Op::Access { field, writes: false }));
        assert_eq!(orders(&[access(1), access(2)], &[access(3), access(4)]), 1);
        assert_eq!(orders(&[read(1), read(1)], &[read(1), read(1)]), 1);
        assert_eq!(orders(&[access(1), access(1)], &[read(1)]), 3);
    }

    #[test]
    fn a_thread_that_was_woken_does_not_wait_again_when_the_machine_lets_go() {
        let mut machine = machine(StrategyKind::Guided);
        machine.begin(0);
        for number in 0..5 {
            machine.add(number, format!("main/{number}"));
        }
        let asks = |machine: &mut Machine, request: Request| {
            let number = machine.current().expect("a thread runs");
            machine.ask(number, 1, request);
            number
        };
        let parked = asks(&mut machine, Request::Park(None));
        let woken = asks(&mut machine, Request::Park(None));
        let waits = asks(&mut machine, Request::Wait(7, None));
        let notified = asks(&mut machine, Request::Wait(8, None));
        let runs = machine.current().expect("a thread runs");
        machine.unpark(woken);
        machine.notify(8, false);
        machine.unpark(runs);
        machine.cut();
        machine.let_go();
        let answers = [parked, woken, waits, notified].map(|number| machine.answer(number));
        let [free, go] = [Answer::Free, Answer::Go].map(Some);
        assert_eq!(answers, [free, go, free, go]);
        machine.ask(runs, 2, Request::Park(None));
        assert_eq!(machine.answer(runs), go, "the permit is the machine's");
        machine.ask(runs, 3, Request::Park(None));
        assert_eq!(machine.answer(runs), free);
    }
}
