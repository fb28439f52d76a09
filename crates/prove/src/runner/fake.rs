//! A program that runs in microseconds: text of one column per thread, interpreted under any schedule.
//!
//! ```text
//! main    | t1              | t2
//! fork t1 |                 |
//! fork t2 |                 |
//!         | enter C.add()I  |
//!         | r C.n           |
//!         |                 | w C.n=5
//!         | w C.n+1         |
//!         | ret             |
//!         | exit            |
//! ```
//!
//! Each line has one operation; the order of the lines is the recorded order. Values are computed: `r x` loads a
//! variable into the thread's register, `w x=5` writes a number, `w x+1` the register and a number. Besides the events
//! of [`ravel_trace::text`] there are operations that leave no event: `ret` returns the register, `print` prints it,
//! `exitcode` ends the program with it, `throw N E` ends the thread by exception E unless the register is N, and
//! `skip N K` skips the next K operations of the thread if the register is N.
//!
//! Turns are given and lost as the agent does it, but for time: a thread that cannot go on loses its turn at once.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use ravel_analysis::limit::Limit;
use ravel_protocol::{Cause, EndedBy, Leave, Schedule, Slip, Verdict, WantedLock};
use ravel_trace::{Event, MemoryTrace, MethodId, Op, SiteId, Source as _, ThreadId, Value};

use super::{Forced, Runner};
use crate::proof::Clock;

/// A program, as its text has it.
pub struct Program {
    threads: Vec<Code>,
    /// The recorded order: thread, and which of its operations.
    order: Vec<(usize, usize)>,
}

struct Code {
    name: String,
    path: String,
    /// The line and the operation.
    operations: Vec<(usize, String)>,
}

impl Program {
    /// Reads the text. Lines count from 1, the line of the threads' names.
    pub fn parse(text: &str) -> Program {
        let mut lines = (1..).zip(text.lines().filter(|line| !line.trim().is_empty()));
        let cells = |line: &str| -> Vec<String> { line.split('|').map(|cell| cell.trim().to_string()).collect() };
        let (_, names) = lines.next().expect("the names of the threads");
        let mut threads: Vec<Code> = cells(names)
            .into_iter()
            .map(|name| Code {
                path: name.clone(),
                name,
                operations: Vec::new(),
            })
            .collect();
        let mut order = Vec::new();
        for (number, line) in lines {
            for (thread, cell) in cells(line).into_iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                order.push((thread, threads[thread].operations.len()));
                threads[thread].operations.push((number, cell));
            }
        }
        for thread in 0..threads.len() {
            let children = threads[thread].operations.iter();
            let children: Vec<String> = children
                .filter_map(|(_, operation)| operation.strip_prefix("fork ").map(str::to_string))
                .collect();
            for (number, child) in children.iter().enumerate() {
                let path = format!("{}/{number}", threads[thread].path);
                let child = threads.iter_mut().find(|code| code.name == *child);
                child.expect("a column for each thread").path = path;
            }
        }
        Program { threads, order }
    }

    /// The recorded run.
    pub fn recorded(&self) -> MemoryTrace {
        let mut machine = Machine::new(self);
        for &(thread, operation) in &self.order {
            // Operations that were skipped have no place in the recorded order.
            // Neither have those of a thread that cannot go on: the recorded run ends there.
            if machine.threads[thread].next == operation {
                let _ = machine.step(thread);
            }
        }
        MemoryTrace::parse(&machine.text()).expect("a trace")
    }
}

#[derive(Default)]
struct Running {
    started: bool,
    dead: bool,
    next: usize,
    position: u32,
    register: i64,
    /// Where each method was entered, and which.
    frames: Vec<(u32, String)>,
    held: u32,
    wants: Option<String>,
    /// The lock that it waits on, and whether it was notified.
    waits: Option<(String, bool)>,
}

/// Why a thread cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Stop {
    Ended,
    Lock(usize),
    Thread,
}

struct Machine<'p> {
    program: &'p Program,
    threads: Vec<Running>,
    variables: BTreeMap<String, i64>,
    locks: BTreeMap<String, usize>,
    lines: Vec<(usize, String)>,
    returned: Vec<(usize, u32, String, i64)>,
    exceptions: Vec<(usize, String)>,
    output: String,
    code: i32,
    slip: Option<Slip>,
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program) -> Machine<'p> {
        let mut machine = Machine {
            program,
            threads: program.threads.iter().map(|_| Running::default()).collect(),
            variables: BTreeMap::new(),
            locks: BTreeMap::new(),
            lines: Vec::new(),
            returned: Vec::new(),
            exceptions: Vec::new(),
            output: String::new(),
            code: 0,
            slip: None,
        };
        machine.start(0);
        machine
    }

    fn start(&mut self, thread: usize) {
        self.threads[thread].started = true;
        self.emit(thread, "begin".into(), 0);
    }

    fn emit(&mut self, thread: usize, event: String, line: usize) {
        self.threads[thread].position += 1;
        self.lines.push((thread, format!("{event} @{line}")));
    }

    fn by_name(&self, name: &str) -> usize {
        let thread = self.program.threads.iter().position(|code| code.name == name);
        thread.expect("a thread of the program")
    }

    fn is_ended(&self, thread: usize) -> bool {
        let running = &self.threads[thread];
        running.dead || running.waits.is_none() && running.next >= self.program.threads[thread].operations.len()
    }

    /// The next operation of a thread.
    fn step(&mut self, thread: usize) -> Result<(), Stop> {
        if self.is_ended(thread) || !self.threads[thread].started {
            return Err(Stop::Ended);
        }
        if let Some((lock, notified)) = self.threads[thread].waits.clone() {
            if !notified || self.locks.contains_key(&lock) {
                return Err(Stop::Thread);
            }
            self.threads[thread].waits = None;
            self.threads[thread].held += 1;
            self.emit(thread, format!("resume {lock}"), 0);
            self.locks.insert(lock, thread);
            return Ok(());
        }
        let (line, operation) = self.program.threads[thread].operations[self.threads[thread].next].clone();
        let (word, rest) = operation.split_once(' ').unwrap_or((&operation, ""));
        let register = self.threads[thread].register;
        let mut skipped = 0;
        match word {
            "acq" => {
                if let Some(&holder) = self.locks.get(rest).filter(|holder| **holder != thread) {
                    self.threads[thread].wants = Some(rest.to_string());
                    return Err(Stop::Lock(holder));
                }
                self.threads[thread].wants = None;
                self.threads[thread].held += 1;
                self.locks.insert(rest.to_string(), thread);
                self.emit(thread, operation.clone(), line);
            }
            "rel" => {
                self.threads[thread].held -= 1;
                self.locks.remove(rest);
                self.emit(thread, operation.clone(), line);
            }
            "wait" => {
                self.threads[thread].held -= 1;
                self.locks.remove(rest);
                self.threads[thread].waits = Some((rest.to_string(), false));
                self.emit(thread, operation.clone(), line);
            }
            "notify" => {
                let waiting = self.threads.iter_mut().filter_map(|thread| thread.waits.as_mut());
                waiting
                    .filter(|(lock, _)| lock == rest)
                    .for_each(|(_, notified)| *notified = true);
                self.emit(thread, operation.clone(), line);
            }
            "join" if !self.is_ended(self.by_name(rest)) => return Err(Stop::Thread),
            "fork" => {
                self.emit(thread, operation.clone(), line);
                self.start(self.by_name(rest));
            }
            "r" => {
                let value = self.variables.get(rest).copied().unwrap_or(0);
                self.threads[thread].register = value;
                self.emit(thread, format!("r {rest}={value}"), line);
            }
            "w" => {
                let (variable, value) = match (rest.split_once('='), rest.split_once('+')) {
                    (Some((variable, number)), _) => (variable, number.parse().expect("a number")),
                    (None, Some((variable, number))) => (variable, register + number.parse::<i64>().expect("a number")),
                    _ => (rest, register),
                };
                self.variables.insert(variable.to_string(), value);
                self.emit(thread, format!("w {variable}={value}"), line);
            }
            "enter" => {
                let entered = self.threads[thread].position;
                self.threads[thread].frames.push((entered, rest.to_string()));
                self.emit(thread, operation.clone(), line);
            }
            "exit" => {
                self.threads[thread].frames.pop();
                self.emit(thread, operation.clone(), line);
            }
            "ret" => {
                let running = &self.threads[thread];
                let method = running.frames.last().expect("inside a method").1.clone();
                self.returned.push((thread, running.position, method, register));
            }
            "print" => self.output.push_str(&format!("{register}\n")),
            "exitcode" => self.code = register as i32,
            "throw" => {
                let (number, exception) = rest.split_once(' ').expect("a number and an exception");
                if number.parse() != Ok(register) {
                    self.threads[thread].dead = true;
                    self.exceptions.push((thread, exception.to_string()));
                }
            }
            "skip" => {
                let (number, count) = rest.split_once(' ').expect("a number and a count");
                if number.parse() == Ok(register) {
                    skipped = count.parse().expect("a count");
                }
            }
            _ => self.emit(thread, operation.clone(), line),
        }
        self.threads[thread].next += 1 + skipped;
        Ok(())
    }

    fn is_inside(&self, thread: usize, leave: Leave) -> bool {
        let running = &self.threads[thread];
        match leave {
            Leave::Frame { depth, entered } => {
                let frame = running.frames.get((depth as usize).wrapping_sub(1));
                frame.is_some_and(|(at, _)| *at <= entered)
            }
            Leave::Lock(count) => running.held >= count,
            Leave::Times(_) => false,
        }
    }

    /// Takes the turns, then lets all threads go on.
    fn run(&mut self, schedule: &Schedule) -> (Verdict, Option<EndedBy>) {
        for (turn, segment) in schedule.segments.iter().enumerate() {
            let path = &schedule.thread(segment).path;
            let slip = |at: u32, cause: Cause| Slip {
                turn,
                thread: path.clone(),
                at,
                until: segment.until,
                cause,
            };
            let thread = self.program.threads.iter().position(|code| code.path == *path);
            let Some(thread) = thread.filter(|thread| self.has_started(*thread)) else {
                self.slip.get_or_insert(slip(0, Cause::NotStarted));
                continue;
            };
            let covered = |machine: &Machine<'_>| {
                machine.threads[thread].position <= segment.until
                    || segment.leave.is_some_and(|leave| machine.is_inside(thread, leave))
            };
            while covered(self) {
                let Err(stop) = self.step(thread) else { continue };
                let cause = match stop {
                    Stop::Ended if self.threads[thread].position > segment.until => break,
                    Stop::Ended => Cause::ThreadEnded,
                    Stop::Thread => Cause::WaitedForThread { lock: None },
                    Stop::Lock(holder) => Cause::WantedLock(WantedLock {
                        lock: 1,
                        holder: self.program.threads[holder].path.clone(),
                    }),
                };
                let at = self.threads[thread].position;
                self.slip.get_or_insert(slip(at, cause));
                break;
            }
        }
        self.finish()
    }

    /// Whether a thread is there, or can be once the thread that starts it has gone on.
    fn has_started(&mut self, thread: usize) -> bool {
        let code = &self.program.threads[thread];
        let parent = code.path.rsplit_once('/').and_then(|(above, _)| {
            let mut all = self.program.threads.iter();
            all.position(|code| code.path == above)
        });
        if let Some(parent) = parent {
            while !self.threads[thread].started && self.has_started(parent) && self.step(parent).is_ok() {}
        }
        self.threads[thread].started
    }

    fn finish(&mut self) -> (Verdict, Option<EndedBy>) {
        let all = 0..self.threads.len();
        loop {
            let mut moved = false;
            for thread in all.clone() {
                while self.step(thread).is_ok() {
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let slip = self.slip.clone();
        let stuck: Vec<usize> = all
            .filter(|thread| self.threads[*thread].started && !self.is_ended(*thread))
            .collect();
        let names = |threads: &[usize]| threads.iter().map(|t| self.program.threads[*t].name.clone()).collect();
        if stuck.is_empty() {
            return (Verdict::Complete { slip }, None);
        }
        let blocked: Vec<usize> = stuck
            .iter()
            .copied()
            .filter(|t| self.threads[*t].wants.is_some())
            .collect();
        if blocked.len() > 1 {
            let threads = names(&blocked);
            return (Verdict::Deadlock { threads, slip }, Some(EndedBy::Deadlock));
        }
        let threads = names(&stuck);
        (Verdict::Hang { threads, slip }, Some(EndedBy::Hang))
    }

    /// The events so far, in the text form of traces.
    fn text(&self) -> String {
        let names: Vec<&str> = self.program.threads.iter().map(|code| code.name.as_str()).collect();
        let line = |(thread, event): &(usize, String)| format!("{}{event}", "|".repeat(*thread));
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        format!("{}\n{}\n", names.join("|"), lines.join("\n"))
    }

    fn forced(mut self, schedule: &Schedule) -> Result<Forced> {
        let (verdict, ended_by) = self.run(schedule);
        let trace = MemoryTrace::parse(&self.text())?;
        let mut names = trace.names().clone();
        for (thread, exception) in &self.exceptions {
            names.threads[*thread].exception = exception.clone();
        }
        let method = |wanted: &str| {
            let of = |method: &ravel_trace::names::Method| {
                format!(
                    "{}.{}{}",
                    names.class(method.class).name,
                    method.name,
                    method.descriptor
                ) == wanted
            };
            names
                .methods
                .iter()
                .position(of)
                .map(MethodId::from)
                .unwrap_or_default()
        };
        let returned = self.returned.iter().map(|(thread, position, name, value)| Event {
            thread: ThreadId::from(*thread),
            position: *position,
            site: SiteId(0),
            op: Op::Returned {
                method: method(name),
                value: Value::Exact(*value),
            },
        });
        Ok(Forced {
            status: ExitStatus::from_raw(ended_by.map_or(self.code, EndedBy::exit_code) << 8),
            verdict: Some(verdict),
            output: self.output.into_bytes(),
            timed_out: false,
            ended_by,
            remark: Limit::default(),
            partial: false,
            whole: ended_by.is_none(),
            // They are among its events.
            frames: Vec::new(),
            calls: Vec::new(),
            returned: returned.collect(),
            failures: Vec::new(),
            trace: Some((trace.events().to_vec(), names)),
        })
    }
}

/// Changes the result of a run: its schedule, and which of the runs of that schedule it is, from 0.
type Alter = dyn Fn(&Schedule, usize, &mut Forced) + Sync;

/// Runs a [`Program`], and is the clock that its runs take time of.
pub struct Fake {
    recorded: MemoryTrace,
    program: Program,
    alter: Box<Alter>,
    side_by_side: usize,
    start: Instant,
    run_takes: Duration,
    /// The runs after which the user interrupts.
    interrupted_after: usize,
    /// Runs in this order: the schedule of each.
    made: Mutex<Vec<Schedule>>,
    fails: AtomicUsize,
}

impl Fake {
    /// Runs of a program, each in no time.
    pub fn new(program: Program) -> Fake {
        Fake {
            recorded: program.recorded(),
            program,
            alter: Box::new(|_, _, _| {}),
            side_by_side: 1,
            start: Instant::now(),
            run_takes: Duration::ZERO,
            interrupted_after: usize::MAX,
            made: Mutex::default(),
            fails: AtomicUsize::new(usize::MAX),
        }
    }

    /// Of a program that took another path when it was recorded.
    pub fn recorded_as(mut self, program: &Program) -> Fake {
        self.recorded = program.recorded();
        self
    }

    /// Each run takes this long.
    pub fn taking(mut self, time: Duration) -> Fake {
        self.run_takes = time;
        self
    }

    /// The user interrupts after so many runs.
    pub fn interrupted_after(mut self, runs: usize) -> Fake {
        self.interrupted_after = runs;
        self
    }

    /// The program cannot be started any more after so many runs.
    pub fn failing_after(self, runs: usize) -> Fake {
        self.fails.store(runs, Ordering::Relaxed);
        self
    }

    /// Runs go another way than the program has it.
    pub fn altered(mut self, alter: impl Fn(&Schedule, usize, &mut Forced) + Sync + 'static) -> Fake {
        self.alter = Box::new(alter);
        self
    }

    /// The recorded run.
    pub fn recorded(&self) -> MemoryTrace {
        MemoryTrace::new(self.recorded.names().clone(), self.recorded.events().to_vec())
    }

    /// When the first run began.
    pub fn start(&self) -> Instant {
        self.start
    }

    /// The schedules of the runs that were made.
    pub fn made(&self) -> Vec<Schedule> {
        self.made.lock().expect("no run panicked").clone()
    }
}

impl Runner for Fake {
    fn force(&self, schedule: &Schedule, _: usize) -> Result<Forced> {
        let number = {
            let mut made = self.made.lock().expect("no run panicked");
            made.push(schedule.clone());
            if made.len() > self.fails.load(Ordering::Relaxed) {
                bail!("the program cannot be started");
            }
            made.iter().filter(|other| *other == schedule).count() - 1
        };
        let mut forced = Machine::new(&self.program).forced(schedule)?;
        (self.alter)(schedule, number, &mut forced);
        Ok(forced)
    }

    fn side_by_side(&self, jobs: usize) -> usize {
        jobs.min(self.side_by_side)
    }
}

impl Clock for Fake {
    fn now(&self) -> Instant {
        let runs = self.made.lock().expect("no run panicked").len();
        self.start + self.run_takes * runs as u32
    }

    fn is_interrupted(&self) -> bool {
        self.made.lock().expect("no run panicked").len() >= self.interrupted_after
    }
}
