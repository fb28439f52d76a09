//! What a schedule must reach: the events of a pattern and how they must lie.
//!
//! Separate from the findings so that a schedule can be asked for by hand or by a test, without an analysis.

use ravel_analysis::finding::{Candidate, EventRef, Rule, RuleFamily, UnitSpan};
use ravel_protocol::Leave;
use ravel_trace::{LocationId, LockId, ThreadId};
use rustc_hash::FxHashSet;

use crate::image::{Image, ThreadStep};

/// How the events of a goal must lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Side by side at the end, nothing between them: a data race.
    Adjacent,
    /// In the given order, the last one at the end; others may come between: atomicity and atomic-set patterns,
    /// cycles of conflicts.
    Ordered,
    /// Every thread is about to do its event, none has: lock-order cycles, where the events are acquisitions.
    Blocked,
}

/// An event by thread and position, with what it is done to if several events share the position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventAt {
    /// Who.
    pub thread: ThreadId,
    /// The thread's position.
    pub position: u32,
    /// The cell, for accesses.
    pub location: Option<LocationId>,
    /// The lock, for lock operations.
    pub lock: Option<LockId>,
}

impl From<EventRef> for EventAt {
    fn from(event: EventRef) -> Self {
        EventAt {
            thread: event.thread,
            position: event.position,
            location: event.location,
            lock: event.lock,
        }
    }
}

/// The stretch of a thread that a unit covers, positions inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Who.
    pub thread: ThreadId,
    /// Position of its first event.
    pub begin: u32,
    /// Position of its last event; none if the trace ended first.
    pub end: Option<u32>,
    /// What a thread runs out of at the unit's end, whichever path it takes; none if that is not known.
    pub leave: Option<Leave>,
}

impl Span {
    /// Whether its first position is that of a point before it: entering a method is no point, so the entry has the position of
    /// the point that the thread passed last. A lock that is taken there belongs to the unit all the same: that of a synchronized
    /// method.
    pub fn begins_behind_a_point(&self) -> bool {
        matches!(self.leave, Some(Leave::Frame { entered, .. }) if entered == self.begin)
    }
}

/// What a schedule must reach.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Goal {
    /// How the events must lie.
    pub shape: Shape,
    /// The pattern's events, in the order in which they must happen.
    pub events: Vec<EventAt>,
    /// The units that the events belong to, for [serial schedules](crate::serial::serial_schedules).
    pub units: Vec<Span>,
}

impl Goal {
    /// A goal without units.
    pub fn new(shape: Shape, events: impl IntoIterator<Item = EventAt>) -> Goal {
        Goal {
            shape,
            events: events.into_iter().collect(),
            units: Vec::new(),
        }
    }

    /// What an occurrence of a finding asks for. None for findings that no order of events can show.
    pub fn of_candidate(rule: Rule, candidate: &Candidate) -> Option<Goal> {
        let mut events: Vec<EventAt> = candidate.events.iter().copied().map(EventAt::from).collect();
        let shape = match rule.family() {
            RuleFamily::Race | RuleFamily::Discipline => Shape::Adjacent,
            RuleFamily::Atomicity | RuleFamily::AtomicSet | RuleFamily::Serializability => Shape::Ordered,
            RuleFamily::LockOrder => {
                // Whatever else is listed of a thread, it must stop before its last acquisition.
                let last: Vec<EventAt> = events.clone();
                events.retain(|e| !last.iter().any(|l| l.thread == e.thread && l.position > e.position));
                Shape::Blocked
            }
            // Nothing of these is in a trace.
            RuleFamily::Failure | RuleFamily::Code => return None,
        };
        let threads = events.iter().any(|e| e.thread != events[0].thread);
        if !threads || (shape == Shape::Adjacent && events.len() != 2) {
            return None;
        }
        let units = candidate.units.iter().map(Span::from).collect();
        Some(Goal { shape, events, units })
    }
}

impl From<&UnitSpan> for Span {
    fn from(unit: &UnitSpan) -> Self {
        Span {
            thread: unit.thread,
            begin: unit.begin.position,
            end: unit.end.map(|e| e.position),
            leave: None,
        }
    }
}

/// Why a goal makes no sense for a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum GoalError {
    /// No event of the trace is there.
    #[error("the trace has no event of thread {} at position {}", .0.thread.0, .0.position)]
    NoSuchEvent(EventAt),
    /// A pattern needs two events at least, and two threads where they must be side by side or blocked.
    #[error("a pattern needs events of at least two threads")]
    TooFew,
    /// Something should come between two events that happen at one point of a thread, in one step.
    #[error("position {} of thread {} is one step: nothing comes between its events", .0.position, .0.thread.0)]
    OneStep(EventAt),
    /// Two events of one thread in an order that contradicts the thread's own.
    #[error("thread {} does position {} only later", .0.thread.0, .0.position)]
    AgainstProgramOrder(EventAt),
}

/// A goal in terms of an image.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub shape: Shape,
    pub steps: Vec<ThreadStep>,
    /// The lock wanted by each event that acquires one.
    pub locks: Vec<Option<u32>>,
    /// Locations whose own order of accesses is not held against the pattern.
    pub own: FxHashSet<u32>,
}

impl Target {
    pub fn resolve(image: &Image, goal: &Goal) -> Result<Target, GoalError> {
        let mut target = Target {
            shape: goal.shape,
            steps: Vec::new(),
            locks: Vec::new(),
            own: FxHashSet::default(),
        };
        for event in &goal.events {
            let step = find(image, event).ok_or(GoalError::NoSuchEvent(*event))?;
            target.add_own(image, event, step);
            // One point may be several events of the pattern: a call that changes an entry and the size.
            if target.steps.last() == Some(&step) {
                continue;
            }
            match target.steps.iter().rfind(|s| s.thread == step.thread) {
                Some(&before) if before == step => return Err(GoalError::OneStep(*event)),
                Some(before) if before.number > step.number => return Err(GoalError::AgainstProgramOrder(*event)),
                Some(_) if goal.shape != Shape::Ordered => return Err(GoalError::TooFew),
                _ => {}
            }
            let mut lock = event.lock.map(|l| l.0);
            for &e in image.events(step) {
                if lock.is_none() && image.code(e).takes() {
                    lock = Some(image.operand(e));
                }
            }
            target.steps.push(step);
            target.locks.push(lock);
        }
        match target.steps.as_slice() {
            [first, rest @ ..] if rest.iter().any(|s| s.thread != first.thread) => Ok(target),
            _ => Err(GoalError::TooFew),
        }
    }

    /// The order of accesses to a pattern's own locations is not held against it, nor that of accesses to the rest of the
    /// same modelled object, which every call on it touches.
    fn add_own(&mut self, image: &Image, event: &EventAt, step: ThreadStep) {
        for &e in image.events(step) {
            let location = image.operand(e);
            if image.is_access(e) && event.location.is_none_or(|l| l.0 == location) {
                self.own.insert(location);
                self.own.extend(image.same_modelled_object(location));
            }
        }
    }

    /// The step from which on reads may differ from the recorded ones; none if there is no such step.
    pub fn first(&self) -> Option<ThreadStep> {
        match self.shape {
            Shape::Blocked => None,
            _ => self.steps.first().copied(),
        }
    }
}

/// Several steps may have the position; the one that does it to the right thing is meant.
fn find(image: &Image, event: &EventAt) -> Option<ThreadStep> {
    let first = image.step_at_or_after(event.thread, event.position)?;
    let at = |number| ThreadStep { number, ..first };
    let last = (first.number..image.steps(first.thread)).take_while(|&n| image.position(at(n)) == event.position);
    let mut found = None;
    for number in last {
        let matches = image.events(at(number)).iter().any(|&e| {
            let code = image.code(e);
            let access = code.is_read() || code.is_write();
            let locking = code.takes() || code.gives_up();
            event.location.is_some_and(|l| access && l.0 == image.operand(e))
                || event.lock.is_some_and(|l| locking && l.0 == image.operand(e))
        });
        if matches {
            return Some(at(number));
        }
        found = found.or(Some(at(number)));
    }
    found
}
