//! The off-heap state of one recorded thread. `Ravel.java` reads and writes it at the same offsets.

use ravel_trace::raw::RawRecord;

/// Bytes of a frame of the shadow stack.
pub const FRAME: usize = 32;
/// Bytes of a thread's table of recent accesses.
pub const REPEATS: usize = 128 * 16;
/// Bytes of a thread's table of accesses that say nothing new, and of the arrays it has last seen.
pub const SETTLED: usize = (4096 + 4096) * 16;
/// Places in each of the tables by site.
pub const SITE_SLOTS: usize = 128;
/// Places in the table by site and object.
pub const MANY_SLOTS: usize = 512;
/// Bytes of a thread's stack of modelled methods.
pub const MODELS: usize = 40 * 64;

/// One thread's state. The thread itself is the only one that writes the first part while it runs.
#[repr(C)]
#[derive(Debug)]
pub struct ThreadBlock {
    /// Where the next record goes.
    pub cursor: u64,
    /// Where the buffer ends.
    pub limit: u64,
    /// Points passed.
    pub position: u32,
    /// `(thread + 1) << 1`, as in the words of the objects it has alone.
    pub tag: u32,
    /// The global counter as last written in a mark.
    pub mark: u64,
    /// Top of the shadow stack.
    pub top: u64,
    /// Frames below this are in the trace.
    pub written: u64,
    /// Site of the call being made.
    pub call: u32,
    /// 1, or 0 where points do not count.
    pub step: u32,
    /// Next free object id.
    pub next_id: u64,
    /// End of the reserved object ids.
    pub last_id: u64,
    /// The stack top at which a modelled method hides what is below it.
    pub opaque: u64,
    /// End of the shadow stack.
    pub stack_limit: u64,
    /// Counts synchronisation and method boundaries.
    pub segment: u32,
    /// Counts the times that another thread has begun to share an array that this one knew as its own.
    pub stale: u32,
    /// Number of the volatile write under way.
    pub stamp: u64,
    /// The monitor waited for, `object << 1 | 1`, or 0.
    pub waiting: u64,
    /// Top of the stack of modelled methods.
    pub model: u64,
    /// Modelled methods entered and not recorded.
    pub nest: u32,
    /// Counts accesses that were new in their segment.
    pub novel: u32,
    /// Bottom of the shadow stack.
    pub bottom: u64,
    /// Bottom of the stack of modelled methods.
    pub model_base: u64,
    /// Forced runs: the position at which the thread must ask.
    pub gate: u32,
    /// State of the noise generator.
    pub noise: u32,
    /// The table of recent accesses.
    pub repeats: u64,
    // From here on only native code looks.
    /// The thread's number in the trace.
    pub thread: u32,
    /// How many threads it has started, workers of pools apart.
    pub children: u32,
    /// Start of the buffer.
    pub buffer: u64,
    /// Bytes of the buffer.
    pub buffer_size: u64,
    /// Set once the thread's `Begin` is written.
    pub begun: u32,
    /// Set once the thread's `End` is written.
    pub ended: u32,
    /// Set once the thread's part of a recording that was ended early is written.
    pub closed: u32,
    // Instrumented code again.
    /// Counts the claims to shared objects.
    pub claims: u32,
    /// Moves when the thread has ordered something after what it did so far.
    pub epoch: u64,
    /// Moves then as well, and when another thread has touched an array of which this one takes no notice. Others add to
    /// it.
    pub shaken: u64,
    /// The table of accesses that say nothing new; 0 until it is needed.
    pub settled: u64,
    /// Forced runs: the position after the run of points that the thread is in.
    pub run_end: u32,
    /// Locks held, as far as it was seen.
    pub held: u32,
    /// In recordings for races: 1 while code of the JDK accesses its objects.
    pub inside: u32,
    /// Keeps what follows aligned.
    pub unused: u32,
    /// Moves when `epoch` does and when the thread gives a lock up.
    pub stretch: u64,
    /// By site: an object of which it takes no notice.
    pub sure_objects: [u64; SITE_SLOTS],
    /// By site: the same for a stretch of an array.
    pub sure_arrays: [u64; SITE_SLOTS],
    /// By site: how often, up to 127, an access said something new since one last did not.
    pub vain: [u8; SITE_SLOTS],
    /// By site and object or array: as the two by site.
    pub sure_of_many: [u64; MANY_SLOTS],
    // Native code.
    /// How many workers of pools it has started.
    pub workers: u32,
}

const _: () = {
    assert!(std::mem::offset_of!(ThreadBlock, position) == 16);
    assert!(std::mem::offset_of!(ThreadBlock, mark) == 24);
    assert!(std::mem::offset_of!(ThreadBlock, top) == 32);
    assert!(std::mem::offset_of!(ThreadBlock, call) == 48);
    assert!(std::mem::offset_of!(ThreadBlock, opaque) == 72);
    assert!(std::mem::offset_of!(ThreadBlock, segment) == 88);
    assert!(std::mem::offset_of!(ThreadBlock, waiting) == 104);
    assert!(std::mem::offset_of!(ThreadBlock, bottom) == 128);
    assert!(std::mem::offset_of!(ThreadBlock, gate) == 144);
    assert!(std::mem::offset_of!(ThreadBlock, repeats) == 152);
    assert!(std::mem::offset_of!(ThreadBlock, thread) == 160);
    assert!(std::mem::offset_of!(ThreadBlock, ended) == 188);
    assert!(std::mem::offset_of!(ThreadBlock, claims) == 196);
    assert!(std::mem::offset_of!(ThreadBlock, settled) == 216);
    assert!(std::mem::offset_of!(ThreadBlock, run_end) == 224);
    assert!(std::mem::offset_of!(ThreadBlock, stretch) == 240);
    assert!(std::mem::offset_of!(ThreadBlock, sure_objects) == 248);
};

/// Bytes of a record.
pub const RECORD: usize = size_of::<RawRecord>();
