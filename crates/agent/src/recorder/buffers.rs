//! The buffer of each thread: how records get into it, and how it goes to the writer.

use ravel_trace::ids::ThreadId;
use ravel_trace::raw::{RawKind, RawRecord};

use super::Recorder;
use super::writer::{LAST_BUFFER, Message};
use crate::sync::Ordering;
use crate::thread_block::{RECORD, ThreadBlock};

const FIRST_BUFFER: usize = 64;
/// Records of the buffer of a thread that goes on after the end of the trace.
const SCRATCH: usize = 1024;

impl Recorder {
    /// Adds a record on behalf of the thread of `block`.
    pub fn append(&self, block: &ThreadBlock, kind: RawKind, site: u32, a: u64, b: u64) {
        if block.cursor.load(Ordering::Relaxed) == block.limit.get() {
            self.flush(block);
        }
        let cursor = block.cursor.load(Ordering::Relaxed);
        let position = block.position.load(Ordering::Relaxed);
        // SAFETY: the cursor is inside the thread's buffer, at a multiple of a record's size; only the thread (or, before it
        // starts, the thread that starts it) gets here, and the collector reads below the cursor alone.
        unsafe { (cursor as *mut RawRecord).write(RawRecord::new(kind, site, position, a, b)) };
        block.cursor.store(cursor + RECORD as u64, Ordering::Release);
    }

    /// Adds a record with a number of its own.
    pub fn append_numbered(&self, block: &ThreadBlock, kind: RawKind, site: u32, a: u64) {
        block.segment.set(block.segment.get().wrapping_add(1));
        let number = self.counter().fetch_add(1, Ordering::SeqCst);
        self.append(block, kind, site, a, number);
    }

    /// Hands a thread's buffer to the writer and gives it an empty one; the new cursor.
    pub fn flush(&self, block: &ThreadBlock) -> u64 {
        if self.cut.is_near() {
            self.close(block);
        } else {
            block.hand.move_buffer(|| {
                let full = take_buffer(block);
                let size = full
                    .as_ref()
                    .map_or(FIRST_BUFFER, |full| (2 * full.capacity()).min(LAST_BUFFER));
                if let Some(full) = full {
                    self.send(Message::Buffer(ThreadId(block.thread), full));
                }
                self.give_buffer(block, size);
            });
        }
        // The thread's part of the trace may be complete: it then fills one buffer again and again.
        if block.buffer.get() == 0 {
            self.give_buffer(block, SCRATCH);
        }
        block.cursor.store(block.buffer.get(), Ordering::Relaxed);
        block.buffer.get()
    }

    /// Gives a thread that has none an empty buffer for that many records.
    fn give_buffer(&self, block: &ThreadBlock, size: usize) {
        let spare = match self.spare.try_lock() {
            Ok(mut spares) if size == LAST_BUFFER => spares.pop(),
            _ => None,
        };
        let mut fresh = spare.unwrap_or_else(|| Vec::with_capacity(size));
        fresh.clear();
        let start = fresh.as_mut_ptr() as u64;
        block.buffer.set(start);
        block.buffer_size.set(fresh.capacity() as u64);
        block.cursor.store(start, Ordering::Relaxed);
        block.limit.set(start + (fresh.capacity() * RECORD) as u64);
        std::mem::forget(fresh);
    }

    /// Hands over the last records of a thread that belong to the trace.
    pub(super) fn close(&self, block: &ThreadBlock) {
        block.hand.close(|| {
            let Some(mut rest) = take_buffer(block) else { return };
            if self.cut.is_near() {
                rest.truncate(before(&rest, self.cut.at()));
            }
            if !rest.is_empty() {
                self.send(Message::Buffer(ThreadId(block.thread), rest));
            }
        });
    }

    /// Ends a thread's part of the trace without its last records: they could not be handed over.
    pub fn abandon(&self, block: &ThreadBlock) {
        block.hand.close(|| drop(take_buffer(block)));
        // If its part was complete before, the buffer is the thread's own.
        drop(take_buffer(block));
    }

    /// The records of a thread that may still run, up to the end of the trace. For the collector, while it holds the thread's hand.
    pub(super) fn copy_rest(&self, block: &ThreadBlock) -> Vec<RawRecord> {
        let (start, cursor) = (block.buffer.get(), block.cursor.load(Ordering::Acquire));
        if start == 0 {
            return Vec::new();
        }
        let count = (cursor.saturating_sub(start) as usize / RECORD).min(block.buffer_size.get() as usize);
        // SAFETY: the thread neither moves nor frees the buffer meanwhile, and does not go back in it. All below the cursor is
        // complete, because the cursor moves after the record: by a store with release order here, after a fence or on a processor that
        // needs none in `RavelRecords.append`.
        let mut rest = unsafe { std::slice::from_raw_parts(start as *const RawRecord, count) }.to_vec();
        rest.truncate(before(&rest, self.cut.at()));
        rest
    }
}

/// How many records come before the moment at which the global counter was `end`.
fn before(records: &[RawRecord], end: u64) -> usize {
    let late = |record: &RawRecord| match record.kind() {
        Some(RawKind::Mark | RawKind::Stamp) => record.a >= end,
        Some(kind) if (RawKind::Acquire as u8..=RawKind::Receive as u8).contains(&(kind as u8)) => record.b >= end,
        Some(RawKind::Initialized) => record.b >= end,
        _ => false,
    };
    records.iter().position(late).unwrap_or(records.len())
}

/// The records in a thread's buffer, which is then no longer the thread's.
pub(super) fn take_buffer(block: &ThreadBlock) -> Option<Vec<RawRecord>> {
    let start = block.buffer.get();
    if start == 0 {
        return None;
    }
    let count = ((block.cursor.load(Ordering::Relaxed) - start) as usize) / RECORD;
    // SAFETY: `give_buffer` made these three from a vector that it forgot; every record below the cursor has been written. The
    // caller holds the thread's hand, or is the thread itself after its part of the trace.
    let records = unsafe { Vec::from_raw_parts(start as *mut RawRecord, count, block.buffer_size.get() as usize) };
    block.buffer.set(0);
    block.cursor.store(0, Ordering::Relaxed);
    block.limit.set(0);
    block.buffer_size.set(0);
    Some(records)
}
