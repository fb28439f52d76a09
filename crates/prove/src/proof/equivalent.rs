//! Runs that need not be made: a schedule whose run would be equivalent to one that was made already.
//!
//! Two runs are equivalent if each thread does the same in both and every two operations that depend on each other come in the same order
//! (Mazurkiewicz, 1977). Then every read sees the same write, so both end alike. [`stand_in`] lays the events of a run out
//! in the order of another schedule. If that exchanges no two operations that depend on each other, the run under that
//! schedule would have been this one.
//!
//! Operations of different threads depend on each other if they access the same location and one of them writes, if they operate on the same lock
//! and one does so alone, if one sends and the other receives, and where one thread starts or joins the other. Everything depends on the
//! initialisation of a class, because not every use of a class is an event.
//!
//! Only what a trace has is compared: two threads that print, each for itself, may do so in either order. So a stand-in is no
//! evidence. It says where nothing new is to be expected; whatever looks like harm is run.
//!
//! Costs: one pass over the events of the run.

use ravel_protocol::Verdict;
use ravel_schedule::{Leave, Schedule, naming};
use ravel_trace::names::Names;
use ravel_trace::{Event, Mode, Op};
use rustc_hash::FxHashMap;

use crate::runner::{Forced, MOST_COMPARED};

/// Whether a run may stand for others: all of it is known, and nothing but the program ended it.
pub fn can_stand_in(run: &Forced) -> bool {
    let known = |(events, _): &(Vec<Event>, Names)| events.len() <= MOST_COMPARED;
    run.whole
        && !run.partial
        && !run.hung()
        && (run.ended_by.is_none() || run.left_pools())
        && matches!(run.verdict, Some(Verdict::Complete { .. }))
        && run.trace.as_ref().is_some_and(known)
}

/// The run as it would have been under this schedule, if it would have been the same but for operations that do not depend on each other.
/// The run is one that [can stand in](can_stand_in).
pub fn stand_in(run: &Forced, schedule: &Schedule) -> Option<Forced> {
    let (events, names) = run.trace.as_ref()?;
    let order = laid_out(events, &run.frames, names, schedule)?;
    if !is_equivalent(events, &order) {
        return None;
    }
    let events = order.into_iter().map(|place| events[place]).collect();
    Some(Forced {
        verdict: Some(Verdict::Complete { slip: None }),
        status: run.status,
        output: run.output.clone(),
        timed_out: false,
        ended_by: run.ended_by,
        remark: run.remark.clone(),
        partial: false,
        whole: true,
        trace: Some((events, names.clone())),
        // They belong to the other order, and no judgement asks for them.
        frames: Vec::new(),
        calls: Vec::new(),
        returned: run.returned.clone(),
        failures: run.failures.clone(),
    })
}

/// A thread of a run, as far as its events were laid out.
#[derive(Default)]
struct Laid {
    /// Its events, each with its place in the run; methods that it enters and leaves have none.
    events: Vec<(Option<usize>, Event)>,
    /// How many of them were laid out.
    next: usize,
    /// The positions at which the methods that it is in were entered.
    frames: Vec<u32>,
    /// The locks that it holds.
    locks: u32,
    /// Whether it has turns.
    is_named: bool,
}

impl Laid {
    /// Whether the thread has yet to leave this, as the agent decides it.
    fn is_inside(&self, leave: Leave) -> bool {
        match leave {
            Leave::Frame { depth, entered } => {
                let frame = (depth as usize).checked_sub(1).and_then(|place| self.frames.get(place));
                frame.is_some_and(|position| *position <= entered)
            }
            Leave::Lock(count) => self.locks >= count,
            Leave::Times(_) => false,
        }
    }

    /// Passes the next event if a turn covers it.
    fn pass(&mut self, until: u32, leave: Option<Leave>) -> Option<Option<usize>> {
        let &(place, event) = self.events.get(self.next)?;
        let is_covered = event.position <= until || leave.is_some_and(|leave| self.is_inside(leave));
        if !is_covered {
            return None;
        }
        self.next += 1;
        match event.op {
            Op::Enter { .. } => self.frames.push(event.position),
            Op::Exit { .. } => {
                self.frames.pop();
            }
            Op::Acquire { .. } | Op::Resume { .. } => self.locks += 1,
            Op::Release { .. } | Op::Wait { .. } => self.locks = self.locks.saturating_sub(1),
            _ => {}
        }
        Some(place)
    }
}

/// The places of the events in the order of a schedule; after its last turn, in the order that they had. Threads without turns go on as they
/// did. None if a turn is of a thread that the run does not have, or of something to leave that the thread is not in when it comes there.
fn laid_out(events: &[Event], frames: &[(usize, Event)], names: &Names, schedule: &Schedule) -> Option<Vec<usize>> {
    if schedule.controlled {
        return None;
    }
    let paths = naming::thread_names(names, names.threads.len());
    let mut threads: Vec<Laid> = paths.iter().map(|_| Laid::default()).collect();
    let mut methods = frames.iter().peekable();
    for (place, event) in events.iter().enumerate() {
        while let Some((_, method)) = methods.next_if(|(before, _)| *before <= place) {
            threads.get_mut(method.thread.index())?.events.push((None, *method));
        }
        threads
            .get_mut(event.thread.index())?
            .events
            .push((Some(place), *event));
    }
    let mut turns = Vec::new();
    for segment in &schedule.segments {
        let path = &schedule.thread(segment).path;
        let is_it = |(name, laid): (&naming::ThreadName, &Laid)| name.path == *path && !laid.events.is_empty();
        let thread = paths.iter().zip(&threads).position(is_it)?;
        threads[thread].is_named = true;
        turns.push((thread, segment));
    }
    let mut free = (0..events.len())
        .filter(|place| !threads[events[*place].thread.index()].is_named)
        .collect::<Vec<usize>>()
        .into_iter()
        .peekable();
    let mut order = Vec::with_capacity(events.len());
    let mut laid = vec![false; events.len()];
    for (thread, segment) in turns {
        let thread = &mut threads[thread];
        let mut leave = None;
        loop {
            let Some(place) = thread.pass(segment.until, leave) else {
                let more = thread.next < thread.events.len();
                if leave.is_none() && segment.leave.is_some() && more {
                    leave = segment.leave.filter(|leave| thread.is_inside(*leave));
                    leave?;
                    continue;
                }
                break;
            };
            let Some(place) = place else { continue };
            while let Some(before) = free.next_if(|before| *before < place) {
                order.push(before);
                laid[before] = true;
            }
            order.push(place);
            laid[place] = true;
        }
    }
    order.extend((0..events.len()).filter(|place| !laid[*place]));
    Some(order)
}

/// What operations have in common that depend on each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shared {
    Location(u32),
    Lock(u32),
    Sync(u32),
    /// The start of a thread: by its parent, and its first event.
    Start(u32),
    /// The end of a thread: its last event, and by those that join it.
    End(u32),
}

/// The kinds of operation on what is shared: two of one kind need not depend on each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Depends on all others.
    Alone,
    /// Depends on all but its like: reads, shared locks, sends.
    Like,
    /// Depends on [`Kind::Like`] and not on its like: receives.
    Other,
}

/// The furthest place of each kind so far, plus one.
#[derive(Clone, Copy, Default)]
struct Furthest {
    alone: usize,
    like: usize,
    other: usize,
}

impl Furthest {
    /// Adds an operation at this place; false if one that it depends on came before it and belongs behind it.
    fn add(&mut self, kind: Kind, place: usize) -> bool {
        let before = match kind {
            Kind::Alone => self.alone.max(self.like).max(self.other),
            Kind::Like => self.alone.max(self.other),
            Kind::Other => self.alone.max(self.like),
        };
        let furthest = match kind {
            Kind::Alone => &mut self.alone,
            Kind::Like => &mut self.like,
            Kind::Other => &mut self.other,
        };
        *furthest = (*furthest).max(place + 1);
        before <= place
    }
}

/// Whether this order of a run's events, in which each thread keeps its own, exchanges no two that depend on each other.
fn is_equivalent(events: &[Event], order: &[usize]) -> bool {
    let mut first: FxHashMap<u32, usize> = FxHashMap::default();
    let mut last: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, event) in events.iter().enumerate() {
        first.entry(event.thread.0).or_insert(place);
        last.insert(event.thread.0, place);
    }
    let mut shared: FxHashMap<Shared, Furthest> = FxHashMap::default();
    // Everything depends on what initialises a class.
    let mut all = Furthest::default();
    order.iter().all(|&place| {
        let event = &events[place];
        let thread = event.thread.0;
        let barrier = match event.op {
            Op::Initialized { .. } => Kind::Alone,
            _ => Kind::Like,
        };
        let mut keeps = all.add(barrier, place);
        let mut add = |what: Shared, kind: Kind| keeps &= shared.entry(what).or_default().add(kind, place);
        if first.get(&thread) == Some(&place) {
            add(Shared::Start(thread), Kind::Alone);
        }
        if last.get(&thread) == Some(&place) {
            add(Shared::End(thread), Kind::Alone);
        }
        match event.op {
            Op::Read { location, .. } => add(Shared::Location(location.0), Kind::Like),
            Op::Write { location, .. } | Op::Update { location, .. } => {
                add(Shared::Location(location.0), Kind::Alone);
            }
            Op::Acquire { lock, mode } | Op::Release { lock, mode } => {
                let kind = match mode {
                    Mode::Exclusive => Kind::Alone,
                    Mode::Shared => Kind::Like,
                };
                add(Shared::Lock(lock.0), kind);
            }
            Op::Wait { lock } | Op::Resume { lock, .. } | Op::Notify { lock, .. } => {
                add(Shared::Lock(lock.0), Kind::Alone);
            }
            Op::Fork { child } => add(Shared::Start(child.0), Kind::Alone),
            Op::Join { child, .. } => add(Shared::End(child.0), Kind::Alone),
            Op::Send { sync } => add(Shared::Sync(sync.0), Kind::Like),
            Op::Receive { sync } => add(Shared::Sync(sync.0), Kind::Other),
            Op::Begin
            | Op::End { .. }
            | Op::Enter { .. }
            | Op::Exit { .. }
            | Op::Call
            | Op::Initialized { .. }
            | Op::UnitBegin
            | Op::UnitEnd
            | Op::Returned { .. } => {}
        }
        keeps
    })
}
