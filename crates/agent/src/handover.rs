//! Who may touch a thread's buffer, and which records belong to the trace.
//!
//! A thread fills its buffer and moves it many times: hands it to the writer, replaces it, frees it. When the recording ends, the
//! collector copies what is left of each buffer while the threads may still run. Both go through [`Hand`], so a buffer is never
//! moved while it is copied, and no record is handed over twice. [`Cut`] is the moment that ends the trace, the same for all
//! threads.
//!
//! Separate from the recorder, so that `tests/handover.rs` can try every interleaving: it compiles this file a second time, with
//! loom's atomics as `crate::sync`.

use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence, yield_now};

/// The thread fills its buffer and may move it.
const OPEN: u32 = 0;
/// The thread moves its buffer.
const MOVING: u32 = 1;
/// The collector copies the buffer. The thread may fill it further, but not move it.
const COPYING: u32 = 2;
/// The thread's part of the trace is complete. The buffer belongs to the thread alone.
const OVER: u32 = 3;

/// The right to move or copy the buffer of one thread.
#[derive(Debug)]
#[repr(transparent)]
pub struct Hand(AtomicU32);

impl Hand {
    /// Of a thread that is about to start.
    pub fn new() -> Hand {
        Hand(AtomicU32::new(OPEN))
    }

    /// For the thread itself: `work` moves the buffer. Not called if the thread's part of the trace is complete.
    pub fn move_buffer(&self, work: impl FnOnce()) -> bool {
        self.hold(OPEN, work)
    }

    /// For the thread itself: `work` hands over the last records that belong to the trace. Not called if that has been done.
    pub fn close(&self, work: impl FnOnce()) -> bool {
        self.hold(OVER, work)
    }

    fn hold(&self, after: u32, work: impl FnOnce()) -> bool {
        loop {
            let before = self
                .0
                .compare_exchange(OPEN, MOVING, Ordering::Acquire, Ordering::Acquire);
            match before {
                Ok(_) => {
                    // Put down even if the work panics: the collector would wait for it.
                    let _held = RestoreState(&self.0, after);
                    work();
                    return true;
                }
                // The collector copies at most one buffer meanwhile; it waits for nothing.
                Err(COPYING) => yield_now(),
                Err(_) => return false,
            }
        }
    }

    /// For the collector: `copy` sees a buffer that is not moved meanwhile, and the thread's part of the trace is complete after
    /// it. `None` if it was complete before, or if the thread is moving its buffer and `go_on` says not to wait for it.
    pub fn collect<R>(&self, mut go_on: impl FnMut() -> bool, copy: impl FnOnce() -> R) -> Option<R> {
        loop {
            let before = self
                .0
                .compare_exchange(OPEN, COPYING, Ordering::Acquire, Ordering::Acquire);
            match before {
                Ok(_) => {
                    let copied = copy();
                    self.0.store(OVER, Ordering::Release);
                    return Some(copied);
                }
                Err(MOVING) if go_on() => yield_now(),
                Err(_) => return None,
            }
        }
    }
}

/// A hand that its thread holds, and what it is afterwards.
struct RestoreState<'a>(&'a AtomicU32, u32);

impl Drop for RestoreState<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Ordering::Release);
    }
}

/// The value of the global counter at which the trace ends: records with smaller numbers are kept, of every thread.
///
/// The cut is announced before the counter is read. A thread that has numbered a record and sees no announcement then knows
/// that the number is below the cut.
#[derive(Debug)]
pub struct Cut {
    near: AtomicBool,
    at: AtomicU64,
}

impl Cut {
    /// Of a recording that goes on.
    pub fn new() -> Cut {
        Cut {
            near: AtomicBool::new(false),
            at: AtomicU64::new(u64::MAX),
        }
    }

    /// Ends the trace here; whether it had not ended before.
    pub fn make(&self, counter: &AtomicU64) -> bool {
        if self.near.swap(true, Ordering::SeqCst) {
            return false;
        }
        // The step separates accesses that looked at the counter before from those that look at it after.
        let at = counter.fetch_add(1, Ordering::SeqCst) + 1;
        self.at.store(at, Ordering::Release);
        true
    }

    /// Whether the trace has ended or is about to. True for a thread that has seen the counter at the cut or above, by a plain load
    /// too: the fence keeps that load before this one.
    pub fn is_near(&self) -> bool {
        fence(Ordering::Acquire);
        self.near.load(Ordering::SeqCst)
    }

    /// Where the trace ends. Only after [`Cut::is_near`]: waits for the number, which follows at once.
    pub fn at(&self) -> u64 {
        loop {
            match self.at.load(Ordering::Acquire) {
                u64::MAX => yield_now(),
                at => return at,
            }
        }
    }
}
