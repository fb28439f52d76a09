//! What happens: one [`Event`] is one step of one thread.
//!
//! Events are delivered in one global order that agrees with the program's synchronisation. Re-entrant acquisitions
//! are already resolved: an [`Op::Acquire`] is the outermost one, and a thread never acquires a lock that it holds (a
//! shared hold is never upgraded, see [`Mode`]).

use crate::ids::{ClassId, LocationId, LockId, MethodId, SiteId, SyncId, ThreadId};

/// One step of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// The thread's count of points passed when this happened, recorded or not. Together with the thread it names the
    /// event in another run. Never falls within a thread; several events may share a position (`Enter` written late,
    /// the two halves of one operation), and their order then distinguishes them.
    pub position: u32,
    /// Where.
    pub site: SiteId,
    /// What.
    pub op: Op,
}

/// Whether a lock is held alone or with other readers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Excludes everyone else: monitors, `ReentrantLock`, write locks.
    Exclusive,
    /// Excludes exclusive holders only: read locks.
    Shared,
}

/// What is known of a value read or written: enough to tell whether another run read the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Value {
    /// Not recorded.
    #[default]
    Unknown,
    /// An integral value (boolean, byte, short, char, int, long) as it was; `null` is `Exact(0)`.
    Exact(i64),
    /// A digest of a floating-point value, of a large long, or of the identity of a reference. Identities mean
    /// nothing in another run.
    Digest(u32),
}

/// The kind of step, with what it is done to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Reads a location. If the location is volatile or modelled, the read also comes after the write that it saw.
    Read {
        /// The cell.
        location: LocationId,
        /// What was read.
        value: Value,
    },
    /// Writes a location.
    Write {
        /// The cell.
        location: LocationId,
        /// What was written.
        value: Value,
    },
    /// Reads and writes a location in one indivisible step (`compareAndSet` that succeeded, `getAndAdd`, `putIfAbsent`
    /// that put, a queue's `add`).
    Update {
        /// The cell.
        location: LocationId,
        /// What was written.
        value: Value,
    },
    /// Has got a lock (outermost).
    Acquire {
        /// The lock.
        lock: LockId,
        /// Alone or shared.
        mode: Mode,
    },
    /// Is about to give a lock up (outermost).
    Release {
        /// The lock.
        lock: LockId,
        /// Alone or shared.
        mode: Mode,
    },
    /// Gives the monitor (or the condition's lock) up, wholly, and begins to wait on it.
    Wait {
        /// The monitor, or the lock of the condition.
        lock: LockId,
    },
    /// Has got the monitor back after `Wait`, as deep as before.
    Resume {
        /// The monitor, or the lock of the condition.
        lock: LockId,
        /// False if it is known that no notification ended the wait (time-out, interruption).
        notified: bool,
    },
    /// Wakes one or all waiters.
    Notify {
        /// The monitor, or the lock of the condition.
        lock: LockId,
        /// `notifyAll`, `signalAll`.
        all: bool,
    },
    /// Starts another thread.
    Fork {
        /// The new thread.
        child: ThreadId,
    },
    /// The thread's first event.
    Begin,
    /// The thread's last event; true if an uncaught exception ended it.
    End {
        /// Ended by an uncaught exception.
        exception: bool,
    },
    /// Has seen the end of another thread.
    Join {
        /// The thread that ended.
        child: ThreadId,
        /// The wait had a short limit: without that end the thread would have gone on all the same.
        limited: bool,
    },
    /// The release half of other synchronisation: it happens before every later receive.
    Send {
        /// The object.
        sync: SyncId,
    },
    /// The acquire half: comes after every earlier `Send` on the same object.
    Receive {
        /// The object.
        sync: SyncId,
    },
    /// Begins a method (only activations in which something was recorded). The event's site is the call's, if known.
    Enter {
        /// The method.
        method: MethodId,
    },
    /// Leaves the most recent method entered and not yet left, normally or by an exception.
    Exit {
        /// The method.
        method: MethodId,
    },
    /// The program's call, at the event's site, inside which this thread's next accesses in code of the JDK lie. Only the agent
    /// of a recording writes it, once until the call is another. It is no activation and no point.
    Call,
    /// A class's initialiser has run to its end; every later use of the class in any thread comes after.
    Initialized {
        /// The class.
        class: ClassId,
    },
    /// Begins a unit declared by the trace itself (STD `begin`).
    UnitBegin,
    /// Ends the most recent unit declared by the trace itself (STD `end`).
    UnitEnd,
    /// Is about to return a value from a method. Only forced runs record it.
    Returned {
        /// The method.
        method: MethodId,
        /// What it returns.
        value: Value,
    },
}

impl Op {
    /// The location accessed, if this is an access.
    #[inline]
    pub fn location(&self) -> Option<LocationId> {
        match *self {
            Op::Read { location, .. } | Op::Write { location, .. } | Op::Update { location, .. } => Some(location),
            _ => None,
        }
    }

    /// Whether this changes a location.
    #[inline]
    pub fn is_write(&self) -> bool {
        matches!(self, Op::Write { .. } | Op::Update { .. })
    }

    /// Whether this looks at a location's value.
    #[inline]
    pub fn is_read(&self) -> bool {
        matches!(self, Op::Read { .. } | Op::Update { .. })
    }
}
