//! Whether a schedule is possible and has the pattern, judged by the trace alone.
//!
//! The check knows nothing of how the schedule was made, so it serves for generated, shrunk and hand-edited ones
//! alike. Promise: what passes keeps locks exclusive, hard order, notifications, and the values of all reads before the
//! pattern's first event, and has the pattern at its end. Time is linear in the steps of the schedule.

use ravel_protocol::{Schedule, ThreadName};

use crate::goal::{Goal, GoalError, Shape, Target};
use crate::image::{Image, ThreadStep};
use crate::machine::{Broken, Machine, point};
use crate::plan::Keep;

/// Why a schedule is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckError {
    /// The goal does not fit the trace.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A thread of the schedule is not in the trace.
    #[error("the trace has no thread {0}")]
    NoSuchThread(String),
    /// A rule is broken.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Checks a schedule against the trace: a schedule that passes is a witness for the goal.
pub fn check(image: &Image, goal: &Goal, schedule: &Schedule) -> Result<(), CheckError> {
    let target = Target::resolve(image, goal)?;
    let threads = threads_of(image, schedule);
    for segment in &schedule.segments {
        if threads.get(segment.thread).copied().flatten().is_none() {
            let name = schedule.threads.get(segment.thread);
            return Err(CheckError::NoSuchThread(
                name.map_or_else(String::new, |n| n.path.clone()),
            ));
        }
    }
    Ok(check_schedule(image, &target, schedule)?)
}

/// Checks a schedule whose threads are all in the trace; turns of others are passed over.
pub(crate) fn check_schedule(image: &Image, target: &Target, schedule: &Schedule) -> Result<(), Broken> {
    let mut walk = Walk::new(image, target, Keep::BeforeFirst);
    walk.go_on()?;
    let threads = threads_of(image, schedule);
    for segment in &schedule.segments {
        if let Some(Some(thread)) = threads.get(segment.thread) {
            walk.turn(*thread as u32, segment.until)?;
        }
    }
    walk.finish()
}

/// For each thread of a schedule, its number in the trace.
fn threads_of(image: &Image, schedule: &Schedule) -> Vec<Option<usize>> {
    let number = |name: &ThreadName| image.thread_names().iter().position(|t| t.path == name.path);
    schedule.threads.iter().map(number).collect()
}

/// What the rules say of the trace itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audit {
    /// Steps of all threads.
    pub steps: usize,
    /// The first step that breaks a rule other than the one on values: a hole in the recording, or a rule that is too
    /// strict.
    pub broken: Option<Broken>,
    /// Reads whose recorded value is not what the last recorded write left.
    pub odd_reads: usize,
}

/// Runs the trace's own order through the rules that schedules must keep. A trace that breaks them makes schedules that
/// mean little.
pub fn audit(image: &Image) -> Audit {
    let none = rustc_hash::FxHashSet::default();
    let mut machine = Machine::new(image, &none);
    let mut order: Vec<ThreadStep> = (0..image.thread_count() as u32)
        .flat_map(|thread| (0..image.steps(thread)).map(move |number| ThreadStep { thread, number }))
        .collect();
    order.sort_by_key(|&s| image.events(s)[0]);
    let mut audit = Audit {
        steps: order.len(),
        broken: None,
        odd_reads: image.odd_reads(),
    };
    for step in order {
        if let Err(broken) = machine.run(step.thread, false) {
            audit.broken = Some(broken);
            break;
        }
    }
    audit
}

/// Checks an order of steps; `keep` says which reads must be as recorded.
pub(crate) fn check_order(image: &Image, target: &Target, order: &[ThreadStep], keep: Keep) -> Result<(), Broken> {
    let mut walk = Walk::new(image, target, keep);
    for &step in order {
        walk.step(step.thread)?;
    }
    walk.finish()
}

struct Walk<'a> {
    image: &'a Image,
    target: &'a Target,
    machine: Machine<'a>,
    keep: Keep,
    /// Pattern events that have happened.
    reached: usize,
    /// Threads whose next step happens by itself: not yet begun, or between the two halves of an operation.
    by_itself: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(image: &'a Image, target: &'a Target, keep: Keep) -> Self {
        let mut walk = Walk {
            image,
            target,
            machine: Machine::new(image, &target.own),
            keep,
            reached: 0,
            by_itself: Vec::new(),
        };
        for thread in 0..image.thread_count() as u32 {
            walk.note(thread);
        }
        walk
    }

    /// Notes whether a thread's next step happens by itself.
    fn note(&mut self, thread: u32) {
        self.by_itself.retain(|&t| t != thread);
        if self.machine.next(thread).is_some_and(|s| self.image.is_by_itself(s)) {
            self.by_itself.push(thread);
        }
    }

    /// One turn: everything of the thread up to a position.
    fn turn(&mut self, thread: u32, until: u32) -> Result<(), Broken> {
        while let Some(step) = self.machine.next(thread).filter(|&s| self.image.position(s) <= until) {
            // A second half that still waits goes on by itself, later; only going past it would be wrong.
            if self.by_itself.contains(&thread) && self.image.position(step) == until {
                return Ok(());
            }
            self.step(thread)?;
            self.go_on()?;
        }
        Ok(())
    }

    /// What happens by itself and has become possible.
    fn go_on(&mut self) -> Result<(), Broken> {
        let mut place = 0;
        while let Some(&thread) = self.by_itself.get(place) {
            let pattern = self
                .machine
                .next(thread)
                .is_some_and(|s| self.target.steps.contains(&s));
            if pattern || !self.machine.can_run(thread) {
                place += 1;
                continue;
            }
            self.step(thread)?;
            place = 0;
        }
        Ok(())
    }

    fn step(&mut self, thread: u32) -> Result<(), Broken> {
        let Some(step) = self.machine.next(thread) else {
            return Ok(());
        };
        let place = self.target.steps.iter().position(|&s| s == step);
        let at = point(self.image, step);
        match (self.target.shape, place) {
            (Shape::Blocked, Some(_)) => return Err(Broken::PatternOrder { at }),
            (_, Some(place)) if place != self.reached => return Err(Broken::PatternOrder { at }),
            (Shape::Adjacent, None) if self.reached > 0 && !self.image.is_by_itself(step) => {
                return Err(Broken::NotAtEnd { at });
            }
            (Shape::Ordered, None) if self.reached == self.target.steps.len() => return Err(Broken::NotAtEnd { at }),
            _ => {}
        }
        let reads = match self.keep {
            Keep::All => place.is_none(),
            Keep::BeforeFirst => place.is_none() && self.reached == 0,
            Keep::Nothing => false,
        };
        self.machine.run(thread, reads)?;
        self.reached += usize::from(place.is_some());
        self.note(thread);
        Ok(())
    }

    fn finish(self) -> Result<(), Broken> {
        let steps = &self.target.steps;
        if self.target.shape != Shape::Blocked {
            return match steps.get(self.reached) {
                Some(&missing) => Err(Broken::PatternMissing {
                    at: point(self.image, missing),
                }),
                None => Ok(()),
            };
        }
        for (&step, &lock) in steps.iter().zip(&self.target.locks) {
            let at = point(self.image, step);
            if self.machine.next(step.thread) != Some(step) {
                return Err(Broken::PatternMissing { at });
            }
            let others = |holder: u32| steps.iter().any(|s| s.thread == holder);
            if !lock.is_some_and(|l| self.machine.holders(l, step.thread).any(others)) {
                return Err(Broken::NotBlocked { at });
            }
        }
        Ok(())
    }
}
