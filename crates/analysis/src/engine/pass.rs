//! The engine's own part of a pass: follows the threads, event by event, and fills batches.

use super::chains::Chains;
use super::{Access, BatchStep, EngineState, Happened, Needs, ThreadState};
use crate::batch::{self, Batch, Target};
use crate::locks::{HeldLock, LocksetId, Locksets};
use crate::optimistic::{Section, Sections};
use crate::order::{ClockId, Kept, Order};
use crate::raw::{Point, StepKind};
use crate::repeats::{Repeats, Seen};
use crate::sets::{Cell, CellKind, Guard, Word, guard_at};
use crate::sharing::{Interest, Sharing};
use crate::stacks::{StackFrame, StackId, Stacks};
use crate::units::{Owners, UnitId, UnitSettings, Units, When, splits};
use ravel_trace::origin::is_platform;
use ravel_trace::{
    AccessMode, ClassId, Event, LocationId, Mode, Names, Op, SiteId, Source, SourceError, ThreadId, Value,
};

/// What a pass has come to.
pub(super) struct Pass<'a> {
    settings: &'a UnitSettings,
    needs: Needs,
    pub(super) state: EngineState,
    ended: Vec<UnitId>,
    pub(super) index: u64,
    pub(super) batch: Batch,
    guards: Vec<Option<Guard>>,
    /// By site.
    modes: Vec<Option<Option<AccessMode>>>,
    /// By site: whether it is in code of the JDK.
    inside: Vec<Option<bool>>,
    words: Vec<Keeping>,
    repeats: Repeats,
    sharing: Option<Sharing>,
    sections: Sections,
    pub(super) chains: Chains,
    /// Threads whose reads are forgotten for now, and those that hold a lock for the time of a section.
    discarding: Vec<ThreadId>,
    reading: Vec<ThreadId>,
    /// The classes that are being initialised, and by whom.
    initializing: Vec<(ThreadId, ClassId)>,
    pub(super) error: Option<SourceError>,
    over: bool,
}

impl<'a> Pass<'a> {
    /// Nothing seen yet.
    pub(super) fn new(
        settings: &'a UnitSettings,
        needs: Needs,
        sharing: Option<Sharing>,
        sections: Sections,
        own_threads: usize,
    ) -> Self {
        let kept = Kept {
            hard: needs.hard,
            full: needs.full,
            history: needs.history,
        };
        let state = EngineState {
            order: Order::new(kept),
            open: Units::new(settings),
            ..EngineState::default()
        };
        Pass {
            settings,
            needs,
            state,
            ended: Vec::new(),
            index: 0,
            batch: Batch::default(),
            guards: Vec::new(),
            modes: Vec::new(),
            inside: Vec::new(),
            words: Vec::new(),
            repeats: Repeats::default(),
            sharing,
            sections,
            chains: Chains::new(own_threads),
            discarding: Vec::new(),
            reading: Vec::new(),
            initializing: Vec::new(),
            error: None,
            over: false,
        }
    }

    /// Reads on until the batch is full; it stays empty when the trace is over.
    pub(super) fn fill(&mut self, source: &mut dyn Source) {
        self.batch.clear();
        self.take_snapshots();
        while !self.over && self.batch.steps.len() < batch::EVENTS {
            match source.next_event() {
                Ok(Some(event)) => self.step(source.names(), &event),
                end => {
                    self.error = end.err();
                    self.over = true;
                    self.end_all();
                }
            }
        }
        self.take_snapshots();
        std::mem::swap(&mut self.batch.born, &mut self.state.open.born);
        std::mem::swap(&mut self.batch.ended, &mut self.state.open.ends);
        self.batch.assumed_possible = self.state.open.assumed_possible();
    }

    /// The clocks' copies are made by the order, and belong to the batch.
    fn take_snapshots(&mut self) {
        let batch = &mut self.batch;
        self.state.order.swap_snapshots(&mut batch.hard, &mut batch.full);
    }

    fn end_all(&mut self) {
        if !self.needs.units {
            return;
        }
        let at = When {
            index: self.index,
            position: u32::MAX,
        };
        for i in 0..self.state.threads.len() {
            self.state.open.end(ThreadId::from(i), at, &mut self.ended);
        }
        self.tell_ended();
    }

    #[inline]
    fn step(&mut self, names: &Names, event: &Event) {
        let own = event.thread;
        let event = &self.in_chain(event);
        let thread = event.thread;
        if self.state.threads.len() <= thread.index() {
            self.grow(thread);
        }
        if self.state.order.is_kept() {
            self.state.order.begin(thread);
        }
        if !self.sections.is_empty() {
            self.end_section(names, event);
        }
        match event.op {
            Op::Read { .. } if self.discarding.contains(&thread) => {}
            Op::Read { location, value } => self.access(names, event, location, StepKind::Read, value),
            Op::Write { location, value } => self.access(names, event, location, StepKind::Write, value),
            Op::Update { location, value } => self.access(names, event, location, StepKind::Update, value),
            _ => self.other(names, event),
        }
        if !self.sections.is_empty() {
            self.begin_section(names, event);
        }
        if self.needs.units {
            self.state.open.passed(thread, event.position);
        }
        if matches!(event.op, Op::End { .. }) && self.state.threads[thread.index()].locks == LocksetId::default() {
            self.chains.end(own, self.state.order.now_without_locations(thread));
        }
        self.index += 1;
    }

    /// The event with the numbers of [chains](Chains) for those of threads.
    #[inline]
    fn in_chain(&mut self, event: &Event) -> Event {
        let thread = match self.chains.get(event.thread) {
            Some(chain) => chain,
            None => self.chains.place(event.thread, self.index, |_| false).0,
        };
        let op = match event.op {
            Op::Fork { child } => Op::Fork {
                child: self.starts(thread, child),
            },
            Op::Join { child, limited } => Op::Join {
                child: self.joins(thread, child),
                limited,
            },
            op => op,
        };
        Event { thread, op, ..*event }
    }

    /// The chain of a thread that another one starts.
    fn starts(&mut self, parent: ThreadId, child: ThreadId) -> ThreadId {
        if let Some(chain) = self.chains.get(child) {
            return chain;
        }
        let order = &self.state.order;
        let known = |end| self.needs.hard && order.knows_without_locations(parent, end);
        let (chain, shared) = self.chains.place(child, self.index, known);
        if shared {
            self.state.threads[chain.index()] = ThreadState::default();
            self.state.order.restart(chain);
            self.initializing.retain(|(thread, _)| *thread != chain);
        }
        chain
    }

    /// The chain of a thread that another one joins; that of the other one if it knew of the end already.
    fn joins(&mut self, thread: ThreadId, child: ThreadId) -> ThreadId {
        let Some(chain) = self.chains.get(child) else {
            return self.chains.place(child, self.index, |_| false).0;
        };
        match self.chains.replaced(child) {
            Some(end) if self.state.order.knows_without_locations(thread, end) => thread,
            _ => chain,
        }
    }

    /// A section of optimistic reads ends before this event.
    fn end_section(&mut self, names: &Names, event: &Event) {
        let thread = event.thread;
        match self.sections.ends_before(self.index) {
            Some(Section::Shared(lock)) if self.reading.contains(&thread) => {
                self.reading.retain(|reading| *reading != thread);
                let op = Op::Release {
                    lock,
                    mode: Mode::Shared,
                };
                self.other(names, &Event { op, ..*event });
            }
            Some(Section::Discarded) => self.discarding.retain(|discarding| *discarding != thread),
            _ => {}
        }
    }

    /// A section of optimistic reads begins after this event.
    fn begin_section(&mut self, names: &Names, event: &Event) {
        match self.sections.begins_after(self.index) {
            // A lock that the tables do not have yet has not been taken.
            Some(Section::Shared(lock)) if lock.index() < names.locks.len() => {
                self.reading.push(event.thread);
                let op = Op::Acquire {
                    lock,
                    mode: Mode::Shared,
                };
                self.other(names, &Event { op, ..*event });
            }
            Some(Section::Discarded) => self.discarding.push(event.thread),
            _ => {}
        }
    }

    #[cold]
    fn grow(&mut self, thread: ThreadId) {
        self.state.threads.resize(thread.index() + 1, ThreadState::default());
        self.state.order.ensure(thread);
        self.state.open.ensure(thread);
    }

    #[inline]
    fn access(&mut self, names: &Names, event: &Event, location: LocationId, kind: StepKind, value: Value) {
        if let Some(sharing) = &self.sharing {
            match sharing.interest(location) {
                Interest::None => return,
                Interest::Units => return self.quiet_access(names, event, location),
                Interest::Full => {}
            }
        }
        let guard = match kind {
            StepKind::Read => Guard::None,
            _ => self.guard(names, event.site),
        };
        let stack = self.stack(names, event);
        let mode = self.mode(names, event.site);
        // Such an access tells what a call returned, not always what the location holds.
        let value = if mode.is_some() { Value::Unknown } else { value };
        let state = &mut self.state;
        let thread = event.thread;
        let (location, cell) = state.cells.get(names, self.settings, location);
        if mode.is_some() {
            state.cells.synchronizes_by_mode(location);
        }
        if cell.kind == CellKind::Static
            && let Some(class) = cell.class
        {
            if self.initializing.contains(&(thread, class)) {
                return self.initial_access(names, event, location, &cell, kind);
            }
            if state.order.is_kept() {
                state.order.uses(thread, class);
            }
        }
        if state.order.is_kept() {
            state.order.runs_at(thread, event.site, names);
            if kind.reads() && (cell.synchronizing || mode.is_some_and(|mode| mode.acquires)) {
                state.order.read_location(thread, location);
            }
        }
        let index = self.index;
        let here = (
            event.site,
            When {
                index,
                position: event.position,
            },
        );
        let owners = match self.needs.units {
            true => state.open.owners(names, thread, &cell, here, &mut self.ended),
            false => Owners::default(),
        };
        let ended = self.ended.drain(..).map(|unit| BatchStep::UnitEnd(unit, index));
        self.batch.steps.extend(ended);
        let local = state.threads[thread.index()];
        let unguarded = match cell.word {
            None => false,
            Some(_) if is_in_constructor(names, state, &local) => false,
            Some(Word::This) => !own_lock_is_held(names, state, &local, &cell),
            Some(Word::Other(number)) => {
                let number = number as usize;
                if self.words.len() <= number {
                    self.words.resize(number + 1, Keeping::default());
                }
                let weakest = if kind.writes() { Mode::Exclusive } else { Mode::Shared };
                self.words[number].is_broken(&mut state.locksets, thread, local.locks, weakest)
            }
        };
        let point = Point {
            index: self.index,
            position: event.position,
            thread,
            site: event.site,
            locks: local.locks,
            stack,
            kind,
        };
        let order = &mut state.order;
        let seen = Seen {
            location,
            thread,
            kind,
            site: event.site,
            locks: local.locks,
            epoch: order.epoch(),
        };
        let repeated = self.needs.repeats && self.repeats.is_repeated(&seen, &state.locksets);
        self.batch.steps.push(BatchStep::Access(Access {
            point,
            location,
            cell: Target {
                set: cell.set,
                kind: cell.kind,
                synchronizing: cell.synchronizing,
                by_mode: mode.is_some(),
                exempt: cell.exempt,
                lock_state: cell.lock_state,
                race_free: cell.race_free,
                guard,
                unguarded,
            },
            owners,
            clock: order.clock_id(thread),
            time: order.now(thread).time,
            epoch: order.epoch(),
            full_time: order.full_now(thread).time,
            hard: order.hard_snapshot(thread),
            full: order.full_snapshot(thread),
            value,
            repeated,
        }));
        if order.is_kept() && kind.writes() && (cell.synchronizing || mode.is_some_and(|mode| mode.releases)) {
            order.write_location(thread, location);
        }
    }

    /// An access that conflicts with none, to an object that has other accesses that do.
    fn quiet_access(&mut self, names: &Names, event: &Event, location: LocationId) {
        if self.needs.units {
            let here = (event.site, self.when(event));
            let (_, cell) = self.state.cells.get(names, self.settings, location);
            let open = &mut self.state.open;
            open.owners(names, event.thread, &cell, here, &mut self.ended);
            self.tell_ended();
        }
    }

    /// An access to a static field by the thread that initialises the class. Every other thread waits for the end of that
    /// before it accesses one, but its plain accesses may stand in the trace before the event that tells of the end.
    #[cold]
    fn initial_access(&mut self, names: &Names, event: &Event, location: LocationId, cell: &Cell, kind: StepKind) {
        if self.needs.units {
            let here = (event.site, self.when(event));
            let open = &mut self.state.open;
            open.owners(names, event.thread, cell, here, &mut self.ended);
            self.tell_ended();
        }
        if cell.synchronizing && kind.writes() && self.state.order.is_kept() {
            self.state.order.write_location(event.thread, location);
        }
    }

    #[inline]
    fn mode(&mut self, names: &Names, site: SiteId) -> Option<AccessMode> {
        if self.modes.len() <= site.index() {
            self.modes.resize(site.index() + 1, None);
        }
        *self.modes[site.index()].get_or_insert_with(|| names.access_mode(site))
    }

    #[inline]
    fn guard(&mut self, names: &Names, site: SiteId) -> Guard {
        if self.guards.len() <= site.index() {
            self.guards.resize(site.index() + 1, None);
        }
        *self.guards[site.index()].get_or_insert_with(|| guard_at(names, site))
    }

    /// The thread's stack at an event. Methods of the JDK leave no frames, so that they are no units; where the event is in one,
    /// that method is the innermost frame, called where the program called into the JDK.
    #[inline]
    fn stack(&mut self, names: &Names, event: &Event) -> StackId {
        let local = self.state.threads[event.thread.index()];
        if local.call == SiteId(0) || !self.is_inside(names, event.site) {
            return local.stack;
        }
        let method = names.site(event.site).method;
        let call = local.call;
        self.state.stacks.push(local.stack, StackFrame { method, call })
    }

    #[inline]
    fn is_inside(&mut self, names: &Names, site: SiteId) -> bool {
        if self.inside.len() <= site.index() {
            self.inside.resize(site.index() + 1, None);
        }
        *self.inside[site.index()].get_or_insert_with(|| is_platform(names.class_of_site(site)))
    }

    fn other(&mut self, names: &Names, event: &Event) {
        self.before(names, event);
        // Most events of a real program are calls and returns, and no analysis asks for them.
        if !matches!(event.op, Op::Enter { .. } | Op::Exit { .. } | Op::Call) {
            self.tell(names, event);
        }
        self.after(names, event);
        self.tell_ended();
    }

    fn tell(&mut self, names: &Names, event: &Event) {
        let locking = matches!(
            event.op,
            Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. } | Op::Resume { .. }
        );
        let transaction = match self.needs.transactions && locking {
            true => self.state.open.transaction(event.thread),
            false => None,
        };
        let clock = match locking {
            true => self.state.order.clock_id(event.thread),
            false => ClockId::default(),
        };
        let stack = self.stack(names, event);
        let local = &self.state.threads[event.thread.index()];
        self.batch.steps.push(BatchStep::Event(Happened {
            index: self.index,
            event: *event,
            locks: local.locks,
            stack,
            transaction,
            clock,
        }));
    }

    fn tell_ended(&mut self) {
        let index = self.index;
        let ended = self.ended.drain(..);
        self.batch
            .steps
            .extend(ended.map(|unit| BatchStep::UnitEnd(unit, index)));
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
        let inside = matches!(event.op, Op::Acquire { .. }) && self.is_inside(names, event.site);
        let state = &mut self.state;
        let units = self.needs.units;
        if state.order.is_kept() {
            state.order.before(event, names);
        }
        match event.op {
            Op::Acquire { lock, mode } => {
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.with(local.locks, HeldLock { lock, mode });
                if units {
                    let step = if inside { local.call } else { event.site };
                    let place = (event.site, step);
                    state.open.acquire(names, thread, lock, place, when, &mut self.ended);
                }
            }
            Op::Resume { lock, .. } => {
                let held = HeldLock {
                    lock,
                    mode: Mode::Exclusive,
                };
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.with(local.locks, held);
            }
            Op::Enter { method } => {
                let entered = names.method(method);
                if entered.name == INITIALIZER {
                    self.initializing.push((thread, entered.class));
                }
                let local = &mut state.threads[thread.index()];
                local.stack = state.stacks.push(
                    local.stack,
                    StackFrame {
                        method,
                        call: event.site,
                    },
                );
                if units {
                    let called = (method, event.site);
                    state
                        .open
                        .enter(names, self.settings, thread, called, when, &mut self.ended);
                }
            }
            Op::Call => state.threads[thread.index()].call = event.site,
            Op::UnitBegin if units => state.open.begin_declared(thread, event.site, when),
            _ => {}
        }
    }

    /// What holds only after the event.
    fn after(&mut self, names: &Names, event: &Event) {
        let (thread, when) = (event.thread, self.when(event));
        let state = &mut self.state;
        let units = self.needs.units;
        if state.order.is_kept() {
            state.order.after(event, names);
        }
        match event.op {
            Op::Release { lock, mode } => {
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.without(local.locks, HeldLock { lock, mode });
                if units {
                    state.open.release(names, thread, lock, when, &mut self.ended);
                }
            }
            Op::Wait { lock } => {
                let held = HeldLock {
                    lock,
                    mode: Mode::Exclusive,
                };
                let local = &mut state.threads[thread.index()];
                local.locks = state.locksets.without(local.locks, held);
            }
            Op::Initialized { class } => self.initializing.retain(|known| *known != (thread, class)),
            Op::Exit { method } => {
                if !self.initializing.is_empty() && names.method(method).name == INITIALIZER {
                    let ended = (thread, names.method(method).class);
                    self.initializing.retain(|known| *known != ended);
                }
                let local = &mut state.threads[thread.index()];
                local.stack = left(&state.stacks, local.stack, method);
                if units {
                    state.open.exit(thread, method, when, &mut self.ended);
                }
            }
            Op::UnitEnd if units => state.open.end_declared(thread, when, &mut self.ended),
            _ => {}
        }
        if !units {
            return;
        }
        if matches!(event.op, Op::End { .. }) {
            state.open.end(thread, when, &mut self.ended);
        } else if splits(names, event) {
            state.open.split(thread, when, &mut self.ended);
        }
    }
}

/// The method that initialises a class.
const INITIALIZER: &str = "<clinit>";

/// Whether a thread holds the lock of a cell's object.
fn own_lock_is_held(names: &Names, state: &EngineState, local: &ThreadState, cell: &Cell) -> bool {
    let mut held = state.locksets.locks(local.locks).iter();
    held.any(|held| Some(names.lock(held.lock).object) == cell.object)
}

/// Whether a thread is making an object.
fn is_in_constructor(names: &Names, state: &EngineState, local: &ThreadState) -> bool {
    let mut frames = state.stacks.frames(local.stack);
    frames
        .next()
        .is_some_and(|frame| names.method(frame.method).name == "<init>")
}

/// How a word is kept that names a lock whose object is not known: some one lock must be held at all accesses, from the
/// second thread's first on. An access that leaves none breaks the word, and does not count for the others.
#[derive(Clone, Copy, Debug, Default)]
struct Keeping {
    first: Option<ThreadId>,
    shared: bool,
    candidates: Option<LocksetId>,
}

impl Keeping {
    fn is_broken(&mut self, sets: &mut Locksets, thread: ThreadId, locks: LocksetId, weakest: Mode) -> bool {
        self.shared |= *self.first.get_or_insert(thread) != thread;
        if !self.shared {
            return false;
        }
        let left = sets.common(self.candidates.unwrap_or(locks), locks, weakest);
        if left == LocksetId::EMPTY {
            return true;
        }
        self.candidates = Some(left);
        false
    }
}

/// The stack after leaving a method, and all that was called by it and never left.
fn left(stacks: &Stacks, stack: StackId, method: ravel_trace::MethodId) -> StackId {
    match stacks.frames(stack).position(|f| f.method == method) {
        Some(n) => (0..=n).fold(stack, |s, _| stacks.pop(s)),
        None => stack,
    }
}
