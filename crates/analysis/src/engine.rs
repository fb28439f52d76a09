//! One pass over one trace, for all analyses at once.
//!
//! The engine keeps, per thread, what several analyses need (locks held, call stack, units, clocks), each part only if
//! some chosen analysis asks for it, and calls the analyses' handlers. What the context says during a handler is what
//! holds *during* the event: an acquired lock is already in the lockset, a released one still is; a read of a volatile
//! location has already learnt from the write that it saw, a write has not yet told anyone.

use crate::finding::UnitKind;
use crate::focus::AtomicMethods;
use crate::locks::{Held, LocksetId, Locksets};
use crate::order::{ClockId, Kept, Order};
use crate::raw::{Point, RawReport, StepKind};
use crate::sets::{Cell, CellKind, Cells};
use crate::stacks::{StackFrame, StackId, Stacks};
use crate::units::{Owner, Owners, UnitId, UnitSettings, Units, When};
use ravel_trace::names::SiteKind;
use ravel_trace::{Event, LocationId, Mode, Names, Op, Source, SourceError, ThreadId, Value};

/// What an analysis wants the engine to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Clocks of the hard order.
    pub hard: bool,
    /// Clocks of the full order.
    pub full: bool,
    /// Ids of past hard clocks ([`Access::clock`]) and [`Order::before_without`].
    pub history: bool,
    /// The units of every access.
    pub units: bool,
    /// The outermost unit even before its first access ([`Context::transaction`]).
    pub transactions: bool,
}

impl Needs {
    /// What either needs.
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            hard: self.hard || other.hard,
            full: self.full || other.full,
            history: self.history || other.history,
            units: self.units || other.units,
            transactions: self.transactions || other.transactions,
        }
    }
}

/// A read, write or update, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// When, who, where, under which locks, by which calls.
    pub point: Point,
    /// The cell.
    pub location: LocationId,
    /// What is known of the cell.
    pub cell: Cell,
    /// The units that it belongs to.
    pub owners: Owners,
    /// What the thread knew of the hard order; only with [`Needs::history`].
    pub clock: ClockId,
    /// What was read or written.
    pub value: Value,
}

impl Access {
    /// Who.
    #[inline]
    pub fn thread(&self) -> ThreadId {
        self.point.thread
    }

    /// Whether it changes the location.
    #[inline]
    pub fn writes(&self) -> bool {
        self.point.kind.writes()
    }

    /// Whether it looks at the location.
    #[inline]
    pub fn reads(&self) -> bool {
        self.point.kind.reads()
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    locks: LocksetId,
    stack: StackId,
    transaction: Option<Owner>,
}

/// What the engine keeps.
#[derive(Debug, Default)]
pub struct State {
    threads: Vec<ThreadState>,
    /// Sets of locks.
    pub locksets: Locksets,
    /// Call stacks.
    pub stacks: Stacks,
    /// Clocks.
    pub order: Order,
    /// Units.
    pub units: Units,
    /// Locations.
    pub cells: Cells,
    /// Methods proven atomic.
    pub atomic: AtomicMethods,
}

/// What a handler sees.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The trace's tables.
    pub names: &'a Names,
    /// What the engine keeps.
    pub state: &'a State,
}

impl Context<'_> {
    /// The locks a thread holds.
    #[inline]
    pub fn locks(&self, thread: ThreadId) -> LocksetId {
        self.state
            .threads
            .get(thread.index())
            .map_or(LocksetId::EMPTY, |t| t.locks)
    }

    /// A thread's call stack.
    #[inline]
    pub fn stack(&self, thread: ThreadId) -> StackId {
        self.state.threads.get(thread.index()).map_or(StackId(0), |t| t.stack)
    }

    /// The outermost unit that a thread is in; only with [`Needs::transactions`].
    #[inline]
    pub fn transaction(&self, thread: ThreadId) -> Option<Owner> {
        self.state.threads.get(thread.index()).and_then(|t| t.transaction)
    }

    /// Whether a unit is an execution of a method that is proven atomic.
    pub fn is_proven(&self, owner: Owner) -> bool {
        let method = self.state.units.info(owner.unit).method;
        owner.kind == UnitKind::Method && method.is_some_and(|method| self.state.atomic.contains(method))
    }

    /// An event as a point.
    pub fn point(&self, index: u64, event: &Event, kind: StepKind) -> Point {
        Point {
            index,
            position: event.position,
            thread: event.thread,
            site: event.site,
            locks: self.locks(event.thread),
            stack: self.stack(event.thread),
            kind,
        }
    }
}

/// An analysis: handlers of events, and reports at the end.
pub trait Analysis {
    /// Its name, as `--analyses` takes it.
    fn name(&self) -> &'static str;

    /// What it wants kept.
    fn needs(&self) -> Needs;

    /// A read, write or update.
    fn access(&mut self, cx: &Context<'_>, access: &Access) {
        let _ = (cx, access);
    }

    /// Any other event.
    fn event(&mut self, cx: &Context<'_>, index: u64, event: &Event) {
        let _ = (cx, index, event);
    }

    /// A unit that owned an access has ended, after the event that ended it.
    fn unit_end(&mut self, cx: &Context<'_>, unit: UnitId) {
        let _ = (cx, unit);
    }

    /// The trace has ended; every unit still open has been told to end.
    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport>;
}

/// What a pass gives.
#[derive(Debug)]
pub struct Outcome {
    /// Observations, analysis by analysis in the order given.
    pub reports: Vec<RawReport>,
    /// The engine's tables, to give the reports names.
    pub state: State,
    /// How many events there were.
    pub events: u64,
    /// How many threads did something.
    pub threads: u64,
    /// Why reading stopped before the end of the trace, if it did.
    pub error: Option<SourceError>,
}

/// The engine.
pub struct Engine<'a> {
    settings: &'a UnitSettings,
    analyses: Vec<Box<dyn Analysis>>,
    needs: Needs,
    state: State,
    ended: Vec<UnitId>,
    index: u64,
}

impl<'a> Engine<'a> {
    /// An engine for these analyses.
    pub fn new(settings: &'a UnitSettings, analyses: Vec<Box<dyn Analysis>>) -> Self {
        let mut needs = analyses.iter().fold(Needs::default(), |n, a| n.and(a.needs()));
        needs.hard |= needs.history;
        needs.units |= needs.transactions;
        let kept = Kept {
            hard: needs.hard,
            full: needs.full,
            history: needs.history,
        };
        let state = State {
            order: Order::new(kept),
            units: Units::new(settings),
            ..State::default()
        };
        Engine {
            settings,
            analyses,
            needs,
            state,
            ended: Vec::new(),
            index: 0,
        }
    }

    /// Reads a trace to its end. A source that fails ends the trace there; the reports on what was read remain.
    pub fn run(mut self, source: &mut dyn Source) -> Outcome {
        let mut error = None;
        loop {
            match source.next_event() {
                Ok(Some(event)) => self.step(source.names(), &event),
                Ok(None) => break,
                Err(e) => {
                    error = Some(e);
                    break;
                }
            }
        }
        let names = source.names();
        for i in 0..self.state.threads.len() {
            let at = When {
                index: self.index,
                position: u32::MAX,
            };
            if self.needs.units {
                self.state.units.end(ThreadId::from(i), at, &mut self.ended);
            }
        }
        self.tell_ended(names);
        let cx = Context {
            names,
            state: &self.state,
        };
        let mut reports = Vec::new();
        for analysis in &mut self.analyses {
            reports.append(&mut analysis.finish(&cx));
        }
        let threads = self.state.threads.len() as u64;
        Outcome {
            reports,
            state: self.state,
            events: self.index,
            threads,
            error,
        }
    }

    #[inline]
    fn step(&mut self, names: &Names, event: &Event) {
        let thread = event.thread;
        if self.state.threads.len() <= thread.index() {
            self.grow(thread);
        }
        if self.state.order.is_kept() {
            self.state.order.begin(thread);
        }
        match event.op {
            Op::Read { location, value } => self.access(names, event, location, StepKind::Read, value),
            Op::Write { location, value } => self.access(names, event, location, StepKind::Write, value),
            Op::Update { location, value } => self.access(names, event, location, StepKind::Update, value),
            _ => self.other(names, event),
        }
        self.index += 1;
    }

    #[cold]
    fn grow(&mut self, thread: ThreadId) {
        self.state.threads.resize(thread.index() + 1, ThreadState::default());
        self.state.order.ensure(thread);
        self.state.units.ensure(thread);
    }

    #[inline]
    fn access(&mut self, names: &Names, event: &Event, location: LocationId, kind: StepKind, value: Value) {
        let state = &mut self.state;
        let thread = event.thread;
        let cell = state.cells.get(names, self.settings, location);
        if state.order.is_kept() {
            if cell.kind == CellKind::Static
                && let Some(class) = cell.class
            {
                state.order.uses(thread, class);
            }
            if cell.synchronizing && kind.reads() {
                state.order.read_location(thread, location);
            }
        }
        let owners = match self.needs.units {
            true => state.units.owners(names, thread, &cell, event.site),
            false => Owners::default(),
        };
        let clock = state.order.clock_id(thread);
        let local = &state.threads[thread.index()];
        let point = Point {
            index: self.index,
            position: event.position,
            thread,
            site: event.site,
            locks: local.locks,
            stack: local.stack,
            kind,
        };
        let access = Access {
            point,
            location,
            cell,
            owners,
            clock,
            value,
        };
        let cx = Context {
            names,
            state: &self.state,
        };
        for analysis in &mut self.analyses {
            analysis.access(&cx, &access);
        }
        if cell.synchronizing && kind.writes() && self.state.order.is_kept() {
            self.state.order.write_location(thread, location);
        }
    }

    fn other(&mut self, names: &Names, event: &Event) {
        self.before(names, event);
        if self.needs.transactions {
            let transaction = self.state.units.transaction(event.thread);
            self.state.threads[event.thread.index()].transaction = transaction;
        }
        let cx = Context {
            names,
            state: &self.state,
        };
        for analysis in &mut self.analyses {
            analysis.event(&cx, self.index, event);
        }
        self.after(names, event);
        self.tell_ended(names);
        if self.needs.transactions {
            let transaction = self.state.units.transaction(event.thread);
            self.state.threads[event.thread.index()].transaction = transaction;
        }
    }

    fn tell_ended(&mut self, names: &Names) {
        if self.ended.is_empty() {
            return;
        }
        let cx = Context {
            names,
            state: &self.state,
        };
        for unit in self.ended.drain(..) {
            for analysis in &mut self.analyses {
                analysis.unit_end(&cx, unit);
            }
        }
    }

    fn when(&self, event: &Event) -> When {
        When {
            index: self.index,
            position: event.position,
        }
    }

    /// What holds from the event on, itself included.
    fn before(&mut self, names: &Names, event: &Event) {
        let (thread, when) = (event.thread, self.when(event));
        let state = &mut self.state;
        let units = self.needs.units;
        let order = state.order.is_kept();
        match event.op {
            Op::Acquire { lock, mode } => {
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.with(local.locks, Held { lock, mode });
                if order {
                    state.order.acquire(thread, lock, mode);
                }
                if units {
                    state.units.acquire(names, thread, lock, event.site, when);
                }
            }
            Op::Resume { lock, notified } => {
                let held = Held {
                    lock,
                    mode: Mode::Exclusive,
                };
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.with(local.locks, held);
                if order {
                    state.order.resume(thread, lock, notified);
                    state.order.acquire(thread, lock, Mode::Exclusive);
                }
            }
            Op::Join { child } if order => state.order.join(thread, child),
            Op::Receive { sync } if order => state.order.receive_sync(thread, sync),
            Op::Enter { method } => {
                if order {
                    state.order.uses(thread, names.method(method).class);
                }
                state.atomic.enter(names, &self.settings.focus, method);
                let local = &mut state.threads[thread.index()];
                local.stack = state.stacks.push(
                    local.stack,
                    StackFrame {
                        method,
                        call: event.site,
                    },
                );
                if units {
                    state
                        .units
                        .enter(names, self.settings, thread, method, event.site, when);
                }
            }
            Op::UnitBegin if units => state.units.begin_declared(thread, event.site, when),
            _ => {}
        }
    }

    /// What holds only after the event.
    fn after(&mut self, names: &Names, event: &Event) {
        let (thread, when) = (event.thread, self.when(event));
        let state = &mut self.state;
        let units = self.needs.units;
        let order = state.order.is_kept();
        match event.op {
            Op::Release { lock, mode } => {
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.without(local.locks, Held { lock, mode });
                if order {
                    state.order.release(thread, lock, mode);
                }
                if units {
                    state.units.release(names, thread, lock, when, &mut self.ended);
                }
            }
            Op::Wait { lock } => {
                let held = Held {
                    lock,
                    mode: Mode::Exclusive,
                };
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.without(local.locks, held);
                if order {
                    state.order.release(thread, lock, Mode::Exclusive);
                    state.order.wait(thread, lock, self.index);
                }
            }
            Op::Notify { lock, all } if order => state.order.notify(thread, lock, all, self.index),
            Op::Fork { child } if order => state.order.fork(thread, child),
            Op::End { .. } if order => state.order.end(thread),
            Op::Send { sync } if order => state.order.send(thread, sync),
            Op::Initialized { class } if order => state.order.initialized(thread, class),
            Op::Exit { method } => {
                let local = &mut state.threads[thread.index()];
                local.stack = left(&state.stacks, local.stack, method);
                if units {
                    state.units.exit(thread, method, when, &mut self.ended);
                }
            }
            Op::UnitEnd if units => state.units.end_declared(thread, when, &mut self.ended),
            _ => {}
        }
        if !units {
            return;
        }
        if matches!(event.op, Op::End { .. }) {
            state.units.end(thread, when, &mut self.ended);
        } else if splits(names, event) {
            state.units.split(thread, when, &mut self.ended);
        }
    }
}

/// The stack after leaving a method, and all that was called by it and never left.
fn left(stacks: &Stacks, stack: StackId, method: ravel_trace::MethodId) -> StackId {
    match stacks.frames(stack).position(|f| f.method == method) {
        Some(n) => (0..=n).fold(stack, |s, _| stacks.pop(s)),
        None => stack,
    }
}

/// Whether nobody expects a unit to hold over this event: the thread waits for another, or starts one.
fn splits(names: &Names, event: &Event) -> bool {
    match event.op {
        Op::Wait { .. } | Op::Fork { .. } | Op::Join { .. } => true,
        Op::Receive { sync } => {
            let name = names.syncs.get(sync.index()).map_or("", |s| s.name.as_str());
            // A semaphore may be used as a lock, and then opens the unit rather than splits it.
            !name.contains("Semaphore")
                && !matches!(
                    names.sites.get(event.site.index()).map(|s| &s.what),
                    Some(SiteKind::Lock)
                )
        }
        _ => false,
    }
}
