//! Forced runs of one program, each made once: findings that rest on the same units need the same serial runs, and some the
//! same schedule.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use ravel_schedule::Schedule;
use ravel_trace::FailureKind;
use rustc_hash::FxHashMap;

use super::equivalent;
use crate::failures::FailedRun;
use crate::runner::{Forced, Runner};

/// Events of all runs that are kept, about 100 MB; further runs are made anew whenever they are asked for.
const MOST_KEPT: usize = 2_000_000;
/// Failures of runs that are kept.
const MOST_FAILURES: usize = 256;
/// Events of the latest runs that may stand for others: to compare with all of them takes less than to make one.
const MOST_STANDING: usize = 200_000;

/// The runs of one schedule, in the order in which they were made.
type Made = Arc<Mutex<Vec<Arc<Forced>>>>;

/// Forced runs that were made, by what they were forced into.
pub struct Runs<'a> {
    runner: &'a dyn Runner,
    /// How many runs may go on at the same time.
    places: AtomicUsize,
    /// How many do.
    going_on: AtomicUsize,
    /// Tells runs apart that go on at the same time.
    next: AtomicUsize,
    known: Mutex<FxHashMap<Schedule, Made>>,
    events: AtomicUsize,
    /// Those that may stand for others, the latest last.
    whole: Mutex<VecDeque<Arc<Forced>>>,
    failed: Mutex<Vec<FailedRun>>,
}

impl<'a> Runs<'a> {
    /// None made yet; so many may go on at the same time.
    pub fn new(runner: &'a dyn Runner, places: usize) -> Runs<'a> {
        Runs {
            runner,
            places: AtomicUsize::new(places),
            going_on: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            known: Mutex::default(),
            events: AtomicUsize::new(0),
            whole: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// What went wrong in the runs so far.
    pub fn failed(&self) -> Vec<FailedRun> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what went wrong in a run.
    fn note(&self, schedule: &Schedule, run: &Forced) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        // The judgement of harm compares exit codes with those of serial runs.
        let failures = run.failures.iter().filter(|failure| failure.kind != FailureKind::Exit);
        for failure in failures.take(MOST_FAILURES.saturating_sub(failed.len())) {
            failed.push(FailedRun {
                schedule: schedule.clone(),
                failure: failure.clone(),
            });
        }
    }

    /// Forgets all of them. From now on no run goes on beside another one.
    pub fn begin_again_alone(&self) {
        self.places.store(1, Ordering::Relaxed);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.whole.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.events.store(0, Ordering::Relaxed);
    }

    /// A run that was made under another schedule, as it would have been under this one, if it would have been
    /// [the same](equivalent).
    pub fn like(&self, schedule: &Schedule) -> Option<Arc<Forced>> {
        let whole: Vec<Arc<Forced>> = {
            let whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
            whole.iter().rev().cloned().collect()
        };
        let stand_in = whole.iter().find_map(|run| equivalent::stand_in(run, schedule))?;
        Some(Arc::new(stand_in))
    }

    fn keep_whole(&self, run: &Arc<Forced>) {
        if !equivalent::can_stand_in(run) {
            return;
        }
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        whole.push_back(Arc::clone(run));
        let length = |run: &Arc<Forced>| run.trace.as_ref().map_or(0, |(events, _)| events.len());
        let mut events: usize = whole.iter().map(length).sum();
        while events > MOST_STANDING
            && let Some(oldest) = whole.pop_front()
        {
            events -= length(&oldest);
        }
    }

    /// A schedule's run of this number, from 0, and whether it had to be made. A caller waits for a run that another caller is
    /// making.
    pub fn get(&self, schedule: &Schedule, number: usize) -> Result<(Arc<Forced>, bool)> {
        let made = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(schedule.clone()).or_default())
        };
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = made.get(number) {
            return Ok((Arc::clone(run), false));
        }
        let run = self.make(schedule)?;
        self.keep(&mut made, &run);
        Ok((run, true))
    }

    /// Makes runs side by side if there are free places, so many of each schedule as are wanted of it; [`get`](Self::get) has them then. How
    /// many were made. One that cannot be made is left to `get`, which says why.
    pub fn make_ahead(&self, wanted: &[(Schedule, usize)]) -> usize {
        let free = self
            .places
            .load(Ordering::Relaxed)
            .saturating_sub(self.going_on.load(Ordering::Relaxed));
        let mut missing: Vec<(&Schedule, Made)> = Vec::new();
        for (schedule, count) in wanted {
            let made = {
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(known.entry(schedule.clone()).or_default())
            };
            // A schedule that another caller runs now is waited for in `get`.
            let have = made.try_lock().map_or(*count, |made| made.len());
            missing.extend((have..*count).map(|_| (schedule, Arc::clone(&made))));
        }
        let workers = free.min(missing.len());
        if workers < 2 {
            return 0;
        }
        let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            while let Some((schedule, made)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Ok(run) = self.make(schedule) {
                    count.fetch_add(1, Ordering::Relaxed);
                    self.keep(&mut made.lock().unwrap_or_else(PoisonError::into_inner), &run);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        });
        count.into_inner()
    }

    fn make(&self, schedule: &Schedule) -> Result<Arc<Forced>> {
        let name = self.next.fetch_add(1, Ordering::Relaxed);
        self.going_on.fetch_add(1, Ordering::Relaxed);
        let run = self.runner.force(schedule, name);
        self.going_on.fetch_sub(1, Ordering::Relaxed);
        let run = Arc::new(run?);
        self.note(schedule, &run);
        Ok(run)
    }

    fn keep(&self, made: &mut Vec<Arc<Forced>>, run: &Arc<Forced>) {
        let events = run.trace.as_ref().map_or(0, |(events, _)| events.len());
        let kept = self.events.fetch_add(events, Ordering::Relaxed) + events;
        if kept <= MOST_KEPT {
            made.push(Arc::clone(run));
            self.keep_whole(run);
        } else {
            self.events.fetch_sub(events, Ordering::Relaxed);
        }
    }
}
