//! Runs of `main` one after the other inside one JVM: when they begin and end, what they show, and why they cannot go on.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use ravel_protocol::{Inside, Schedule, Searched, line};
use ravel_trace::{Failure, FailureKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Search;
use super::machine::Ending;

/// How long the threads of a run that is over may take to end.
const UNWIND: Duration = Duration::from_millis(1500);
/// How long a run may take.
const LONGEST: Duration = Duration::from_secs(6);
/// Different outputs that are kept: a program that prints more does not print the same in the same order.
const MOST_OUTPUTS: usize = 16;
/// The first runs, in which the program is watched for writing files.
const FIRST: u32 = 3;

/// The runs so far.
pub struct Runs {
    inside: Option<Inside>,
    seed: u64,
    found: PathBuf,
    begun: Instant,
    number: u32,
    orders: FxHashSet<u64>,
    /// Runs in a row that showed no new order.
    stale: u32,
    failed: u32,
    known: Vec<(String, usize)>,
    /// What runs that did not fail printed: how many did, and the order of the first.
    outputs: FxHashMap<u64, (u32, Schedule)>,
    obstacle: Option<String>,
    /// Bytes that the process had written when the run began.
    written: u64,
}

impl Runs {
    pub fn new(inside: Option<Inside>, seed: u64, found: PathBuf) -> Runs {
        Runs {
            inside,
            seed,
            found,
            begun: Instant::now(),
            number: 0,
            orders: FxHashSet::default(),
            stale: 0,
            failed: 0,
            known: Vec::new(),
            outputs: FxHashMap::default(),
            obstacle: None,
            written: 0,
        }
    }

    fn is_over(&self) -> bool {
        let Some(inside) = &self.inside else { return true };
        self.number >= inside.runs
            || self.stale >= inside.stale
            || self.begun.elapsed() >= Duration::from_millis(inside.millis)
            || self.obstacle.is_some()
            || inside.first && self.failed > 0
    }

    fn tell(&self, told: &Searched) {
        if let Ok(line) = line::encode(told)
            && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(&self.found)
        {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

impl Search {
    /// The next run begins; false if there is none.
    pub fn next_run(&self) -> bool {
        let mut state = self.lock();
        if state.runs.is_over() {
            return false;
        }
        if state.runs.number == 0 {
            state.runs.begun = Instant::now();
        }
        let seed = state.runs.seed.wrapping_add(u64::from(state.runs.number));
        state.machine.begin(seed);
        state.bells.clear();
        state.idle.clear();
        state.live = 0;
        state.moved = (0, Instant::now());
        state.runs.written = written();
        true
    }

    /// Waits until the threads of the run have ended. False if some do not.
    pub fn end_run(&self) -> bool {
        let begun = Instant::now();
        let mut over: Option<Instant> = None;
        let mut state = self.lock();
        while state.live > 0 {
            if state.machine.is_over() {
                let since = *over.get_or_insert_with(Instant::now);
                if since.elapsed() > UNWIND {
                    state.runs.obstacle = Some("its threads do not end when they are asked to".to_string());
                    return false;
                }
            } else if begun.elapsed() > LONGEST {
                state.machine.cut();
                self.ring(&mut state);
            }
            let limit = Duration::from_millis(20);
            state = self
                .ended
                .wait_timeout(state, limit)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Takes down what a run came to; `output` stands for what it printed.
    pub fn judge_run(&self, failures: &[Failure], output: u64) {
        let mut state = self.lock();
        let ending = state.machine.ending().cloned();
        let (order, schedule) = (state.machine.order(), state.machine.schedule());
        let runs = &mut state.runs;
        let new = runs.orders.insert(order);
        runs.stale = if new { 0 } else { runs.stale + 1 };
        let (run, seed) = (runs.number, runs.seed.wrapping_add(u64::from(runs.number)));
        let wrote = runs.number < FIRST && written() != runs.written;
        runs.number += 1;
        let mut kinds: Vec<String> = failures.iter().map(kind).collect();
        let ended = matches!(ending, Some(Ending::Ended | Ending::Exit(_)));
        if let Some(Ending::Stuck(waits)) = ending {
            kinds.push(format!("stuck: {}", waits.join(", ")));
        }
        runs.failed += u32::from(!kinds.is_empty());
        if kinds.is_empty() && ended && (runs.outputs.len() <= MOST_OUTPUTS || runs.outputs.contains_key(&output)) {
            runs.outputs.entry(output).or_insert_with(|| (0, schedule.clone())).0 += 1;
        }
        for failure in kinds {
            let told = runs.known.iter_mut().find(|(known, _)| *known == failure);
            let turns = schedule.segments.len();
            match told {
                Some((_, fewest)) if turns >= *fewest => continue,
                Some((_, fewest)) => *fewest = turns,
                None => runs.known.push((failure.clone(), turns)),
            }
            runs.tell(&Searched::Failed {
                run,
                seed,
                failure,
                schedule: schedule.clone(),
            });
        }
        if wrote {
            runs.obstacle = Some("it writes files or talks to other processes".to_string());
        }
    }

    /// Tells the order of a run that was made once. One in which a thread blocked where the machine could not see it, or that was too long,
    /// was not the machine's to its end: whatever went wrong then says nothing.
    pub fn end_alone(&self) {
        let state = self.lock();
        if matches!(state.machine.ending(), Some(Ending::TooLong)) {
            return;
        }
        state.runs.tell(&Searched::Alone {
            schedule: state.machine.schedule(),
        });
    }

    /// The program cannot be run again inside this JVM.
    pub fn note_obstacle(&self, why: String) {
        let mut state = self.lock();
        state.runs.obstacle.get_or_insert(why);
        if self.is_inside() {
            state.machine.cut();
            self.ring(&mut state);
        }
    }

    /// The runs are over.
    pub fn end_runs(&self) {
        let state = self.lock();
        let runs = &state.runs;
        if (2..=MOST_OUTPUTS).contains(&runs.outputs.len()) {
            for (times, schedule) in runs.outputs.values() {
                runs.tell(&Searched::Printed {
                    times: *times,
                    schedule: schedule.clone(),
                });
            }
        }
        runs.tell(&Searched::Ended {
            runs: runs.number,
            orders: runs.orders.len() as u32,
            failed: runs.failed,
            millis: runs.begun.elapsed().as_millis() as u64,
            obstacle: runs.obstacle.clone(),
        });
    }
}

/// What makes a failure this one.
fn kind(failure: &Failure) -> String {
    let kind = match failure.kind {
        FailureKind::Exception => "exception",
        FailureKind::Deadlock => "deadlock",
        FailureKind::Standstill => "standstill",
        FailureKind::Exit => "exit",
    };
    let frames = failure.threads.iter().map(|thread| {
        let frame = thread.own_frame();
        format!(" {}.{}", frame.class, frame.method)
    });
    let frames: String = frames.collect();
    format!("{kind} {}{frames}", failure.exception_class())
}

/// Bytes that this process has written to anything.
fn written() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}
