//! The threads of a JVM that was running before Ravel came, by their ids: helper classes read this table where they otherwise read fields of
//! `Thread`.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use jvmti_bindings::sys::jni::{JNIEnv, jfieldID, jobject};

use crate::jvm;
use crate::memory::Region;
use crate::thread_block::ThreadBlock;

/// How many bits of a thread's id the table has places for.
pub const THREAD_BITS: u32 = 24;
/// In the place of a block: the thread is not recorded.
pub const NEVER: u64 = 1;

/// The table.
pub struct ThreadTable {
    /// Two words for each thread: the address of its block, and its number and one.
    places: Region<u64>,
    /// The field of `Thread` that has the id.
    id: jfieldID,
    /// Ids whose places have been used.
    used: Mutex<Vec<usize>>,
}

// SAFETY: field ids may be used by any thread; the places are atomics.
unsafe impl Send for ThreadTable {}
// SAFETY: as above.
unsafe impl Sync for ThreadTable {}

impl ThreadTable {
    /// An empty table; none if the threads of this JVM have no ids.
    pub fn new(env: *mut JNIEnv) -> Result<ThreadTable, String> {
        Ok(ThreadTable {
            places: Region::new(2 << THREAD_BITS)?,
            id: jvm::thread_field(env, c"tid", c"J").ok_or("the threads of this JVM have no id that Ravel knows")?,
            used: Mutex::default(),
        })
    }

    /// Where the table is.
    pub fn address(&self) -> i64 {
        self.places.at(0) as i64
    }

    /// The place of a thread; none if its id is beyond the table.
    pub fn place(&self, env: *mut JNIEnv, thread: jobject) -> Option<usize> {
        if thread.is_null() {
            return None;
        }
        // SAFETY: the field is a long of `Thread`, and `thread` is one.
        let id = unsafe { ((**env).GetLongField)(env, thread, self.id) };
        usize::try_from(id).ok().filter(|id| *id != 0 && id >> THREAD_BITS == 0)
    }

    fn word(&self, place: usize) -> &AtomicU64 {
        // SAFETY: inside the region, which is never given back; Java code reads and writes the word whole.
        unsafe { AtomicU64::from_ptr(self.places.at(2 * place)) }
    }

    /// The block at a place: none if the thread has none.
    pub fn block(&self, place: usize) -> Option<&'static ThreadBlock> {
        let address = self.word(place).load(Ordering::Acquire);
        // SAFETY: other values are addresses of blocks, which are never given back.
        (address > NEVER).then(|| unsafe { &*(address as *const ThreadBlock) })
    }

    /// Whether the thread at a place is one that is never recorded.
    pub fn is_left_out(&self, place: usize) -> bool {
        self.word(place).load(Ordering::Relaxed) == NEVER
    }

    /// Gives a thread its block and its number.
    pub fn set(&self, place: usize, block: &'static ThreadBlock) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).push(place);
        // SAFETY: inside the region.
        let number = unsafe { AtomicU64::from_ptr(self.places.at(2 * place + 1)) };
        number.store(u64::from(block.thread) + 1, Ordering::Relaxed);
        self.word(place)
            .store(std::ptr::from_ref(block) as u64, Ordering::Release);
    }

    /// The thread at a place has run its last.
    pub fn end(&self, place: usize) {
        self.word(place).store(NEVER, Ordering::Release);
    }

    /// No thread is recorded any more.
    pub fn clear(&self) {
        for place in self.used.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            self.word(*place).store(NEVER, Ordering::Release);
        }
    }
}

/// Whether the recording has begun, and whether threads may order each other unseen.
pub struct Mode(Region<u32>);

// SAFETY: the word in the region is an atomic.
unsafe impl Send for Mode {}
// SAFETY: as above.
unsafe impl Sync for Mode {}

impl Mode {
    /// Nothing is recorded.
    pub fn new() -> Result<Mode, String> {
        Region::new(16).map(Mode)
    }

    /// Where it is.
    pub fn address(&self) -> i64 {
        self.0.at(0) as i64
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: inside the region, which is never given back; Java code only reads the word.
        unsafe { AtomicU32::from_ptr(self.0.at(0)) }
    }

    /// The recording begins; threads may order each other unseen.
    pub fn begin(&self) {
        self.word().store(1, Ordering::SeqCst);
    }

    /// Nothing is recorded any more.
    pub fn end(&self) {
        self.word().store(0, Ordering::SeqCst);
    }

    /// Whether the recording has begun.
    pub fn is_on(&self) -> bool {
        self.word().load(Ordering::SeqCst) != 0
    }

    /// From now on threads may order each other unseen, or not.
    pub fn set_unseen(&self, unseen: bool) {
        let change = |now: u32| (now != 0 && (now & 1 != 0) != unseen).then_some(now + 1);
        #[allow(
            deprecated,
            reason = "the oldest supported Rust does not have `try_update`, its new name"
        )]
        let _ = self.word().fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
    }
}
