//! The search: the program is run under a scheduler that decides at each conflicting access which thread goes on, hundreds of times
//! inside one JVM. A run that fails is repeated in a fresh JVM and recorded, and its trace goes through all analyses.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::analyse::combine;
use ravel_protocol::{ELEMENTS, Inside, Search, Searched, StrategyKind};
use ravel_schedule::Schedule;
use ravel_trace::ids::{FieldId, LocationId, ThreadId};
use ravel_trace::names::{Location, Names};
use ravel_trace::{FailureKind, Op, Source as _, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Job;
use super::explore::LookedFor;
use super::record::with_suffix;
use crate::failures::FailedRun;
use crate::interrupt;
use crate::jvm::JvmRunner;
use crate::observer::{Progress, Work};

/// How long a recorded run may be for a search.
const LONGEST: Duration = Duration::from_secs(5);
/// Runs in a row without a new order of conflicting accesses after which a search ends.
const STALE: u32 = 120;
/// The same if a bug of the program is proven already.
const STALE_IF_PROVEN: u32 = 40;
/// The time that a search may take.
const TIME: Duration = Duration::from_secs(10);
/// The same if a bug of the program is proven already.
const TIME_IF_PROVEN: Duration = Duration::from_secs(3);
/// The part of the budget that it may take.
const SHARE: u32 = 20;
/// Failing orders that are run again.
const MOST_FAILED: usize = 6;
/// Orders in which the program prints something unusual that are run again.
const MOST_PRINTED: usize = 2;
/// Runs with a JVM each, if the program cannot be run again inside one.
const PROCESSES: u32 = 4;

/// What a search came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Searches {
    /// Runs inside one JVM.
    pub inside: u64,
    /// The time that they took.
    pub time: Duration,
    /// Runs with a JVM each.
    pub processes: u64,
    /// Different orders of conflicting accesses.
    pub orders: u64,
    /// Runs that failed.
    pub failed: u64,
    /// The seed of the first run.
    pub seed: u64,
    /// Why the program was not run again inside one JVM.
    pub obstacle: Option<String>,
}

/// How a search is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchSettings {
    /// The most runs.
    pub runs: u32,
    /// The seed of the first.
    pub seed: u64,
}

impl Job<'_> {
    /// Searches the programs of traces for orders in which they fail.
    pub fn search(&mut self, traces: &[PathBuf], output: &Path, settings: SearchSettings) -> Result<()> {
        let stands_still = |kind: FailureKind| kind == FailureKind::Standstill;
        let hopeless = self.recorded_failures.iter().any(|failure| stands_still(failure.kind));
        if !self.explorable || self.program_time() > LONGEST || self.most_threads <= 1 || hopeless {
            return Ok(());
        }
        interrupt::listen();
        for (number, path) in traces.iter().enumerate() {
            let longest = match self.report.findings.iter().any(|finding| finding.shown) {
                true => TIME_IF_PROVEN,
                false => TIME,
            };
            let time = longest.min(self.left() / SHARE);
            if time < Duration::from_secs(1) || interrupt::requested() {
                break;
            }
            self.search_one(number, path, output, settings, time)?;
        }
        Ok(())
    }

    fn search_one(
        &mut self,
        number: usize,
        path: &Path,
        output: &Path,
        settings: SearchSettings,
        time: Duration,
    ) -> Result<()> {
        let mut trace = Trace::open(path, self.reading())?;
        let Ok(mut program) = JvmRunner::of(trace.reader(), self.settings.budget.run) else {
            // Forcing the findings has said so.
            return Ok(());
        };
        program.end_by(Instant::now() + self.left());
        let quiet = quiet_fields(&mut trace)?;
        drop(trace);
        let plan = Search {
            strategy: StrategyKind::Guided,
            seed: settings.seed,
            inside: Some(Inside {
                runs: settings.runs,
                millis: time.as_millis() as u64,
                stale: match self.report.findings.iter().any(|finding| finding.shown) {
                    true => STALE_IF_PROVEN,
                    false => STALE,
                },
                first: false,
            }),
            follow: None,
            quiet,
        };
        let line = self.observer.begin(Work::Alone);
        line.show(&Progress::Searching { runs: settings.runs });
        let told = program.search(&plan, time)?;
        let mut failing: Vec<(String, Schedule)> = Vec::new();
        let mut printed: Vec<(u32, Schedule)> = Vec::new();
        let mut searches = Searches {
            seed: settings.seed,
            ..Searches::default()
        };
        let mut over = false;
        for line in told {
            match line {
                Searched::Failed { failure, schedule, .. } => {
                    match failing.iter_mut().find(|(known, _)| *known == failure) {
                        // The later one has fewer turns.
                        Some((_, known)) => *known = schedule,
                        None => failing.push((failure, schedule)),
                    }
                }
                Searched::Printed { times, schedule } => printed.push((times, schedule)),
                Searched::Alone { .. } => {}
                Searched::Ended {
                    runs,
                    orders,
                    failed,
                    millis,
                    obstacle,
                } => {
                    over = true;
                    searches.inside = u64::from(runs);
                    searches.orders = u64::from(orders);
                    searches.failed = u64::from(failed);
                    searches.time = Duration::from_millis(millis);
                    searches.obstacle = obstacle;
                }
            }
        }
        if !over {
            searches.obstacle = Some("its JVM did not end in time".to_owned());
        }
        drop(line);
        let mut schedules: Vec<Option<Schedule>> = failing
            .into_iter()
            .take(MOST_FAILED)
            .map(|(_, schedule)| Some(schedule))
            .collect();
        // What a bug makes the program print comes seldom: the analyses see what happened in such a run, and the proof of their
        // findings compares it with serial runs.
        if !self.report.findings.iter().any(|finding| finding.shown) {
            printed.sort_by_key(|(times, schedule)| (*times, schedule.segments.len()));
            printed.pop();
            schedules.extend(
                printed
                    .into_iter()
                    .take(MOST_PRINTED)
                    .map(|(_, schedule)| Some(schedule)),
            );
        }
        if searches.obstacle.is_some() {
            schedules.extend(std::iter::repeat_n(None, PROCESSES.min(settings.runs) as usize));
        }
        let mut failed: Vec<FailedRun> = Vec::new();
        let mut kept: Vec<PathBuf> = Vec::new();
        for (place, schedule) in schedules.into_iter().enumerate() {
            if program.is_over() || interrupt::requested() {
                break;
            }
            let file = with_suffix(output, &format!("search-{number}-{place}"));
            let alone = Search {
                seed: settings.seed.wrapping_add(place as u64),
                inside: None,
                // The agent may have found that threads share more fields than those of the recorded run did.
                quiet: if schedule.is_some() {
                    Vec::new()
                } else {
                    plan.quiet.clone()
                },
                follow: schedule,
                strategy: plan.strategy,
            };
            searches.processes += u64::from(alone.follow.is_none());
            let Some(order) = program.search_once(&alone, place, &file)? else {
                continue;
            };
            let order = alone.follow.clone().unwrap_or(order);
            self.tally.runs += 1;
            let mut shows = false;
            if let Ok(trace) = Trace::open(&file, self.reading()) {
                let failures = trace.reader().footer().map_or(&[][..], |footer| &footer.failures);
                searches.failed += u64::from(alone.follow.is_none() && !failures.is_empty());
                failed.extend(failures.iter().map(|failure| FailedRun {
                    schedule: order.clone(),
                    failure: failure.clone(),
                }));
                shows = self.look_at(&file, trace, LookedFor::Harmful).unwrap_or(false);
            }
            if !shows {
                kept.push(file);
            }
        }
        let mut found = Vec::new();
        let file = with_suffix(output, &format!("search-{number}"));
        self.tally.runs += self.add_failed_runs(path, &file, &program, &failed, &mut found)?;
        combine(&mut self.report.findings, found);
        for file in kept {
            let _ = std::fs::remove_file(file);
        }
        self.searches.push(searches);
        Ok(())
    }
}

/// The fields that the threads of a trace only read, or that each has for itself, as the agent names them.
pub fn quiet_fields(trace: &mut Trace) -> Result<Vec<String>> {
    let mut touched: FxHashMap<LocationId, (ThreadId, bool, bool)> = FxHashMap::default();
    trace.rewind();
    while let Some(event) = trace.next_event()? {
        let (location, writes) = match event.op {
            Op::Read { location, .. } => (location, false),
            Op::Write { location, .. } | Op::Update { location, .. } => (location, true),
            _ => continue,
        };
        let known = touched.entry(location).or_insert((event.thread, false, false));
        known.1 |= known.0 != event.thread;
        known.2 |= writes;
    }
    let names = trace.names();
    let (mut seen, mut shared) = (FxHashSet::default(), FxHashSet::default());
    for (location, (_, several, written)) in &touched {
        let name = field_name(*location, names);
        if *several && *written {
            shared.insert(name.clone());
        }
        seen.insert(name);
    }
    let mut quiet: Vec<String> = seen.difference(&shared).flatten().cloned().collect();
    quiet.sort_unstable();
    Ok(quiet)
}

fn field_name(location: LocationId, names: &Names) -> Option<String> {
    let named = |field: FieldId| {
        let field = names.field(field);
        format!("{}.{}", names.class(field.class).name, field.name)
    };
    match names.locations[location.index()] {
        Location::Field(_, field) | Location::Static(field) => Some(named(field)),
        Location::Element(..) => Some(ELEMENTS.to_owned()),
        Location::Entry(..) | Location::Named(_) => None,
    }
}
