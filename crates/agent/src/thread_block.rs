//! The off-heap state of one recorded thread. The Java helper classes read and write it at the offsets that `layout` tells them.

use std::cell::Cell;

use ravel_trace::raw::RawRecord;

use crate::handover::Hand;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a frame of the shadow stack.
pub const FRAME: usize = size_of::<MethodFrame>();
/// Entries of a thread's table of recent accesses: their logarithm.
pub const REPEATS_BITS: u32 = 7;
/// Bytes of that table.
pub const REPEATS: usize = 16 << REPEATS_BITS;
/// Entries of a thread's table of accesses that say nothing new: their logarithm.
pub const SETTLED_BITS: u32 = 12;
/// Entries of the table of the arrays that a thread has last seen, which follows.
pub const KNOWN_ARRAYS: usize = 4096;
/// Bytes of both tables.
pub const SETTLED: usize = (16 << SETTLED_BITS) + KNOWN_ARRAYS * 16;
/// Places in each of the tables by site.
pub const SITE_SLOTS: usize = 128;
/// Places in the table by site and object.
pub const MANY_SLOTS: usize = 512;
/// The epoch of a thread that has ordered nothing after itself yet.
pub const FIRST_EPOCH: u64 = 1;
/// Bytes of a thread's stack of modelled methods.
pub const MODELS: usize = size_of::<ModelFrame>() * 64;

/// A method on the shadow stack.
#[repr(C)]
#[derive(Debug)]
pub struct MethodFrame {
    /// The method.
    pub method: u32,
    /// Site of the call.
    pub call: u32,
    /// The position at which it was entered.
    pub position: u32,
    /// The step outside of it.
    pub step: u32,
    /// The lock of a synchronized method, `object << 1 | 1`, or 0.
    pub lock: u64,
    /// Where it takes that lock.
    pub site: u32,
    /// In recordings for races: how many calls of the same method are inside of this one.
    pub again: u32,
}

/// A modelled method that is recorded.
#[repr(C)]
#[derive(Debug)]
pub struct ModelFrame {
    /// The number of the model.
    pub model: u32,
    /// Modelled methods that were entered before and are not recorded.
    pub nest: u32,
    /// The stack top that was hidden before, or 0.
    pub opaque: u64,
    /// The object that the method is called on.
    pub object: u64,
    /// A key, an argument, a thread's block or a number of the global counter, as the effect needs it.
    pub extra: u64,
    /// Where the method was called.
    pub site: u32,
    /// 1 if the thread has the state alone; 2 if a framework called and the method orders threads.
    pub alone: u32,
}

/// One thread's state. A cell belongs to the thread itself: no other thread reads or writes it, but for the buffer's two, as `hand`
/// allows. The atomics are what other threads look at or change. So no thread ever needs `&mut` to a block.
#[repr(C)]
#[derive(Debug)]
pub struct ThreadBlock {
    /// Where the next record goes.
    pub cursor: AtomicU64,
    /// Where the buffer ends.
    pub limit: Cell<u64>,
    /// Points passed.
    pub position: AtomicU32,
    /// `(thread + 1) << 1`, as in the words of the objects it has alone.
    pub tag: u32,
    /// The global counter as last written in a mark.
    pub mark: Cell<u64>,
    /// Top of the shadow stack.
    pub top: AtomicU64,
    /// Frames below this are in the trace.
    pub written: Cell<u64>,
    /// Site of the call being made.
    pub call: Cell<u32>,
    /// 1, or 0 where points do not count.
    pub step: Cell<u32>,
    /// Next free object id.
    pub next_id: Cell<u64>,
    /// End of the reserved object ids.
    pub last_id: Cell<u64>,
    /// The stack top at which a modelled method hides what is below it.
    pub opaque: Cell<u64>,
    /// End of the shadow stack.
    pub stack_limit: Cell<u64>,
    /// Counts synchronisation and method boundaries.
    pub segment: Cell<u32>,
    /// Counts the times that another thread has begun to share an array that this one knew as its own.
    pub stale: Cell<u32>,
    /// Number of the volatile write under way.
    pub stamp: Cell<u64>,
    /// The monitor waited for, `object << 1 | 1`, or 0.
    pub waiting: Cell<u64>,
    /// Top of the stack of modelled methods.
    pub model: Cell<u64>,
    /// Modelled methods entered and not recorded.
    pub nest: Cell<u32>,
    /// Counts accesses that were new in their segment.
    pub novel: Cell<u32>,
    /// Bottom of the shadow stack.
    pub bottom: AtomicU64,
    /// Bottom of the stack of modelled methods.
    pub model_base: Cell<u64>,
    /// Forced runs: the position at which the thread must ask.
    pub gate: AtomicU32,
    /// State of the noise generator.
    pub noise: Cell<u32>,
    /// The table of recent accesses.
    pub repeats: Cell<u64>,
    // From here on only native code looks.
    /// The thread's number in the trace.
    pub thread: u32,
    /// How many threads it has started, workers of pools apart.
    pub children: Cell<u32>,
    /// Start of the buffer. This word and the next change only as `hand` allows.
    pub buffer: Cell<u64>,
    /// Bytes of the buffer.
    pub buffer_size: Cell<u64>,
    /// Set once the thread's `Begin` is written.
    pub begun: Cell<u32>,
    /// Set once the thread's `End` is written.
    pub ended: Cell<u32>,
    /// Who may move or copy the buffer.
    pub hand: Hand,
    // Instrumented code again.
    /// Counts the claims to shared objects.
    pub claims: Cell<u32>,
    /// Moves when the thread has ordered something after what it did so far.
    pub epoch: Cell<u64>,
    /// Moves when another thread has touched an array that this one ignores. Only others add to it: a store of the thread itself could hide
    /// theirs, see `RavelFences.java`.
    pub shaken: AtomicU64,
    /// The table of accesses that say nothing new; 0 until it is needed.
    pub settled: Cell<u64>,
    /// Forced runs: the position after the run of points that the thread is in.
    pub run_end: Cell<u32>,
    /// In a search: points passed without a decision.
    pub passed: Cell<u32>,
    /// In a search: points of a run that is over.
    pub asked: Cell<u32>,
    /// Locks held, as far as it was seen.
    pub held: Cell<u32>,
    /// 1 while code of the JDK accesses its objects.
    pub inside: Cell<u32>,
    /// The call of the last `Call` record.
    pub called: Cell<u32>,
    /// The place of the last volatile or atomic write that the thread recorded as the owner.
    pub own_place: Cell<u64>,
    /// Where the record after that write goes.
    pub own_cursor: Cell<u64>,
    /// Moves when `epoch` does and when the thread gives a lock up.
    pub stretch: Cell<u64>,
    /// By site: an object that it ignores.
    pub sure_objects: Cell<[u64; SITE_SLOTS]>,
    /// By site: the same for a stretch of an array.
    pub sure_arrays: Cell<[u64; SITE_SLOTS]>,
    /// By site: how often, up to 127, an access said something new since one last did not.
    pub vain: Cell<[u8; SITE_SLOTS]>,
    /// By site and object or array: as the two by site.
    pub sure_of_many: Cell<[u64; MANY_SLOTS]>,
    // In a JVM that was running before Ravel came.
    /// The mode of the recording when the thread last heard from all others.
    pub heard: Cell<u32>,
    /// 1 while code is on the thread's stack that may order threads and was entered before it was changed. The agent puts it out.
    pub unseen: AtomicU32,
    /// 1 if such a thread has recorded an access since it last told all others.
    pub untold: Cell<u32>,
    /// 1 if code of the program was on the thread's stack when it was first recorded: it has no frames on the shadow stack.
    pub older: Cell<u32>,
}

impl ThreadBlock {
    /// The memory of a thread that has ended, for the next one: the shadow stack, the stack of modelled methods and the table of recent
    /// accesses, emptied; none if it was given back.
    pub fn tables(&self) -> Option<(u64, u64, u64)> {
        let repeats = self.repeats.get();
        if repeats == 0 {
            return None;
        }
        // SAFETY: the table has so many bytes, and its thread, which alone used it, has ended.
        unsafe { std::ptr::write_bytes(repeats as *mut u8, 0, REPEATS) };
        Some((self.bottom.load(Ordering::Relaxed), self.model_base.get(), repeats))
    }

    /// Points passed.
    pub fn position(&self) -> u32 {
        self.position.load(Ordering::Relaxed)
    }

    /// Forced runs: lets the thread ask at this position.
    pub fn set_gate(&self, position: u32) {
        self.gate.store(position, Ordering::Relaxed);
    }

    /// Bottom of the shadow stack, and how many frames it has. Exact for the thread itself and while it does not run.
    pub fn frames(&self) -> (u64, u64) {
        let (bottom, top) = (self.bottom.load(Ordering::Relaxed), self.top.load(Ordering::Relaxed));
        (bottom, top.saturating_sub(bottom) / FRAME as u64)
    }
}

/// Bytes of a record.
pub const RECORD: usize = size_of::<RawRecord>();
