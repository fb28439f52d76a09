//! What the engine hands to the analyses: a stretch of the trace with all that was known at each of its steps.
//!
//! An analysis goes through a whole batch before the next one sees it. Its tables then stay in the cache while it works,
//! which on a trace of many locations makes more of a difference than anything else; and since a batch says everything
//! about its moment itself, several analyses can work on one while the engine fills the next.

use crate::locks::{LockTable, LocksetId};
use crate::order::{Clock, ClockId, Moment};
use crate::raw::{Point, StepKind};
use crate::sets::{CellKind, Guard, SetId};
use crate::units::{Owner, Owners, UnitId, UnitInfo, UnitTable, When};
use ravel_trace::{Event, LocationId, Op, ThreadId, Value};

/// How many events a batch has.
pub const EVENTS: usize = 1 << 16;

/// A clock of a thread as it was at some step of the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snapshot(u32);

/// The clocks of one order that the steps of a batch refer to.
#[derive(Debug, Default)]
pub struct Snapshots {
    clocks: Vec<Clock>,
    used: usize,
    current: Vec<Option<Snapshot>>,
}

impl Snapshots {
    /// Forgets all, for the next batch.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.current.clear();
    }

    /// The clock of a thread has changed.
    #[inline]
    pub(crate) fn changed(&mut self, thread: ThreadId) {
        if let Some(current) = self.current.get_mut(thread.index()) {
            *current = None;
        }
    }

    /// The thread's clock as it is now.
    #[inline]
    pub(crate) fn take(&mut self, thread: ThreadId, clock: &Clock) -> Snapshot {
        match self.current.get(thread.index()) {
            Some(Some(known)) => *known,
            _ => self.keep(thread, clock),
        }
    }

    fn keep(&mut self, thread: ThreadId, clock: &Clock) -> Snapshot {
        match self.clocks.get_mut(self.used) {
            Some(old) => old.clone_from(clock),
            None => self.clocks.push(clock.clone()),
        }
        let snapshot = Snapshot(u32::try_from(self.used).unwrap_or(u32::MAX));
        self.used += 1;
        if self.current.len() <= thread.index() {
            self.current.resize(thread.index() + 1, None);
        }
        self.current[thread.index()] = Some(snapshot);
        snapshot
    }

    /// The clock.
    #[inline]
    pub fn get(&self, snapshot: Snapshot) -> &Clock {
        &self.clocks[snapshot.0 as usize]
    }
}

/// What analyses ask of the cell that an access is to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// Its atomic set.
    pub set: SetId,
    /// What sort.
    pub kind: CellKind,
    /// Accesses to it are themselves synchronisation.
    pub synchronizing: bool,
    /// This access is synchronisation by its [mode](ravel_trace::AccessMode); others to the same cell may not be.
    pub by_mode: bool,
    /// Marked `@NotAtomic`.
    pub exempt: bool,
    /// What a program may ask of a lock.
    pub lock_state: bool,
    /// Proven to be free of races.
    pub race_free: bool,
    /// On what the access depends, if it writes.
    pub guard: Guard,
    /// The cell is declared to be guarded by a lock that is not held, and no constructor is at work.
    pub unguarded: bool,
}

/// A read, write or update, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// When, who, where, under which locks, by which calls.
    pub point: Point,
    /// The cell, by its number in this pass ([`Cells::get`](crate::sets::Cells::get)).
    pub location: LocationId,
    /// What is known of the cell.
    pub cell: Target,
    /// The units that it belongs to.
    pub owners: Owners,
    /// What the thread knew of the hard order; only with [`Needs::history`](crate::engine::Needs::history).
    pub clock: ClockId,
    /// The thread's own time in the hard order.
    pub time: u32,
    /// How often a clock of the hard order had changed.
    pub epoch: u32,
    /// The thread's own time in the full order.
    pub full_time: u32,
    pub(crate) hard: Snapshot,
    pub(crate) full: Snapshot,
    /// What was read or written.
    pub value: Value,
    /// Whether it is known to be a repetition for predictive analyses ([`crate::repeats`]).
    pub repeated: bool,
}

impl Access {
    /// Who.
    #[inline]
    pub fn thread(&self) -> ThreadId {
        self.point.thread
    }

    /// Whether it is itself synchronisation.
    #[inline]
    pub fn is_synchronization(&self) -> bool {
        self.cell.synchronizing || self.cell.by_mode
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

    /// The thread's present in the hard order.
    #[inline]
    pub fn now(&self) -> Moment {
        Moment {
            thread: self.point.thread,
            time: self.time,
        }
    }

    /// The thread's present in the full order.
    #[inline]
    pub fn full_now(&self) -> Moment {
        Moment {
            thread: self.point.thread,
            time: self.full_time,
        }
    }
}

/// Any other event. What is known is what holds *during* it: an acquired lock is already held, a released one still is.
#[derive(Clone, Copy, Debug)]
pub struct Happened {
    /// Number of the event in the trace.
    pub index: u64,
    /// The event.
    pub event: Event,
    /// The locks held.
    pub locks: LocksetId,
    /// The calls that led there.
    pub stack: crate::stacks::StackId,
    /// For lock operations, the outermost unit that the thread is in; only with
    /// [`Needs::transactions`](crate::engine::Needs::transactions).
    pub transaction: Option<Owner>,
    /// What the thread knew of the hard order, for lock operations; only with
    /// [`Needs::history`](crate::engine::Needs::history).
    pub clock: ClockId,
}

impl Happened {
    /// The event as a point.
    pub fn point(&self, kind: StepKind) -> Point {
        Point {
            index: self.index,
            position: self.event.position,
            thread: self.event.thread,
            site: self.event.site,
            locks: self.locks,
            stack: self.stack,
            kind,
        }
    }

    /// What happened.
    #[inline]
    pub fn op(&self) -> Op {
        self.event.op
    }
}

/// One step of a batch.
#[derive(Clone, Copy, Debug)]
pub enum BatchStep {
    /// A read, write or update.
    Access(Access),
    /// Any other event, but for calls and returns.
    Event(Happened),
    /// A unit that owned an access has ended, by the event of this number.
    UnitEnd(UnitId, u64),
}

/// A stretch of the trace.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) steps: Vec<BatchStep>,
    pub(crate) hard: Snapshots,
    pub(crate) full: Snapshots,
    /// Units that got their number, in order.
    pub(crate) born: Vec<UnitInfo>,
    pub(crate) ended: Vec<(UnitId, When)>,
    pub(crate) assumed_possible: bool,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.hard.clear();
        self.full.clear();
        self.born.clear();
        self.ended.clear();
    }
}

/// What the analyses may ask while they go through a batch. Tables may know more than the step in hand: units that begin
/// later in the batch, and when each ends.
#[derive(Debug, Default)]
pub struct View {
    /// Sets of locks.
    pub locksets: LockTable,
    /// Units.
    pub units: UnitTable,
    pub(crate) batch: Batch,
}

impl View {
    /// Takes the next batch in place of the last, which it gives back.
    pub(crate) fn turn(&mut self, next: &mut Batch, locksets: &LockTable) {
        std::mem::swap(&mut self.batch, next);
        self.locksets.extend_from(locksets);
        self.units.take_in(&self.batch.born, &self.batch.ended);
    }

    /// The steps of the batch.
    #[inline]
    pub fn steps(&self) -> &[BatchStep] {
        &self.batch.steps
    }

    /// Whether any unit of an assumed kind is possible: without activations there is none.
    #[inline]
    pub fn assumed_possible(&self) -> bool {
        self.batch.assumed_possible
    }

    /// What the thread knew of the hard order at an access.
    #[inline]
    pub fn hard(&self, access: &Access) -> &Clock {
        self.batch.hard.get(access.hard)
    }

    /// What the thread knew of the full order at an access.
    #[inline]
    pub fn full(&self, access: &Access) -> &Clock {
        self.batch.full.get(access.full)
    }
}
