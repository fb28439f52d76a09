//! The threads of the recording: their blocks, with the memory that a block points to, and how they are named in the trace.

use std::cell::Cell;

use fastrand::Rng;
use ravel_trace::definition::Definition;
use ravel_trace::ids::ThreadId;
use ravel_trace::names::Thread;
use ravel_trace::run_info::EndReason;
use ravel_trace::spawn;

use super::buffers::take_buffer;
use super::{MAX_ENDS, MAX_THREADS, MIX, Recorder, TAG_OF_LATE, lock};
use crate::handover::Hand;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::thread_block::{
    FIRST_EPOCH, FRAME, MANY_SLOTS, MODELS, ModelFrame, REPEATS, SETTLED, SITE_SLOTS, ThreadBlock,
};

/// Blocks of ended threads that keep their stacks and tables, to be used again.
const SPARE_TABLES: usize = 4096;
const FIRST_STACK: usize = 128;

#[derive(Default)]
pub(super) struct Threads {
    pub(super) entries: Vec<ThreadEntry>,
    /// Blocks of threads that have ended, to be used again.
    spare: Vec<&'static ThreadBlock>,
}

pub(super) struct ThreadEntry {
    /// None once the thread has ended.
    pub(super) block: Option<&'static ThreadBlock>,
    definition: Thread,
}

impl Recorder {
    /// A block for a thread that is about to start; its number is its place in the trace.
    pub fn new_thread(&self, parent: Option<ThreadId>, spawn_index: u32) -> &'static ThreadBlock {
        let mut threads = lock(&self.threads);
        let thread = threads.entries.len() as u32;
        if thread as usize >= MAX_ENDS {
            self.stop(EndReason::Other(format!("more than {MAX_ENDS} threads")));
        }
        // The collector may still look at the block of a thread that ended late.
        let spare = threads
            .spare
            .pop()
            .filter(|_| self.options.inside || !self.cut.is_near());
        let (stack, models, repeats) = match spare.and_then(ThreadBlock::tables) {
            Some(tables) => tables,
            None => (
                allocate(FIRST_STACK * FRAME) as u64,
                allocate(MODELS) as u64,
                allocate(REPEATS) as u64,
            ),
        };
        let seed = self.options.noise.map_or(0, |(seed, _)| seed);
        let new = ThreadBlock {
            cursor: AtomicU64::new(0),
            limit: Cell::new(0),
            position: AtomicU32::new(0),
            tag: if (thread as usize) < MAX_THREADS - 2 {
                (thread + 1) << 1
            } else {
                TAG_OF_LATE
            },
            mark: Cell::new(0),
            top: AtomicU64::new(stack),
            written: Cell::new(stack),
            call: Cell::new(0),
            step: Cell::new(1),
            next_id: Cell::new(0),
            last_id: Cell::new(0),
            opaque: Cell::new(0),
            stack_limit: Cell::new(stack + (FIRST_STACK * FRAME) as u64),
            segment: Cell::new(1),
            stale: Cell::new(0),
            stamp: Cell::new(0),
            waiting: Cell::new(0),
            model: Cell::new(models),
            nest: Cell::new(0),
            novel: Cell::new(0),
            bottom: AtomicU64::new(stack),
            model_base: Cell::new(models),
            gate: AtomicU32::new(if self.options.is_forced() { 0 } else { u32::MAX }),
            noise: Cell::new(Rng::with_seed(seed.wrapping_add(thread.into())).u32(..)),
            repeats: Cell::new(repeats),
            thread,
            children: Cell::new(0),
            buffer: Cell::new(0),
            buffer_size: Cell::new(0),
            begun: Cell::new(0),
            ended: Cell::new(0),
            hand: Hand::new(),
            claims: Cell::new(0),
            epoch: Cell::new(FIRST_EPOCH),
            shaken: AtomicU64::new(1),
            settled: Cell::new(0),
            run_end: Cell::new(0),
            passed: Cell::new(0),
            asked: Cell::new(0),
            held: Cell::new(0),
            inside: Cell::new(0),
            called: Cell::new(0),
            own_place: Cell::new(0),
            own_cursor: Cell::new(0),
            stretch: Cell::new(0),
            sure_objects: Cell::new([0; SITE_SLOTS]),
            sure_arrays: Cell::new([0; SITE_SLOTS]),
            vain: Cell::new([0; SITE_SLOTS]),
            sure_of_many: Cell::new([0; MANY_SLOTS]),
            heard: Cell::new(0),
            unseen: AtomicU32::new(0),
            untold: Cell::new(0),
            older: Cell::new(0),
        };
        let block: &'static ThreadBlock = match spare {
            Some(old) => {
                let place = std::ptr::from_ref(old).cast_mut();
                // SAFETY: the block came from a leaked box. Its thread has ended, the list has no reference to it any more, and no thread
                // of the program has its address but the table of owners: there others add to two of its words, whatever they hold.
                unsafe {
                    place.write(new);
                    &*place
                }
            }
            None => Box::leak(Box::new(new)),
        };
        if (thread as usize) < MAX_THREADS {
            // SAFETY: within the region, which lives as long as `self`. The slot is written once, before the thread starts and so before any
            // array can have this owner.
            unsafe { AtomicU64::from_ptr(self.blocks.at(thread as usize + 1)) }
                .store(std::ptr::from_ref(block) as u64, Ordering::Release);
        }
        let definition = Thread {
            parent,
            spawn_index,
            ..Thread::default()
        };
        threads.entries.push(ThreadEntry {
            block: Some(block),
            definition,
        });
        block
    }

    /// A thread by who started it and in which order: `main/0/2`. A worker of a pool is a child of the first thread, whoever found the pool busy.
    pub fn thread_path(&self, thread: ThreadId) -> String {
        let threads = lock(&self.threads);
        let mut indices = Vec::new();
        let mut at = threads.entries.get(thread.index());
        while let Some(entry) = at {
            let Some(parent) = entry.definition.parent else { break };
            indices.push(entry.definition.spawn_index.to_string());
            if spawn::is_worker(entry.definition.spawn_index) {
                break;
            }
            at = threads.entries.get(parent.index());
        }
        indices.push("main".to_string());
        indices.reverse();
        indices.join("/")
    }

    /// Says what is known of a thread, how it ended among it, even for a recording that was ended early.
    pub fn describe_thread(&self, thread: ThreadId, change: impl FnOnce(&mut Thread)) {
        let definition = {
            let mut threads = lock(&self.threads);
            let Some(entry) = threads.entries.get_mut(thread.index()) else {
                return;
            };
            change(&mut entry.definition);
            entry.definition.clone()
        };
        lock(&self.names).push(Definition::Thread(thread, definition));
    }

    /// The threads that have ended, of those that keep a JVM alive.
    pub fn ended_threads(&self) -> Vec<ThreadId> {
        let threads = lock(&self.threads);
        let numbers = 0..threads.entries.len().min(MAX_ENDS);
        let is_over = |number: &usize| {
            // SAFETY: within the region, which lives as long as `self`; the byte is only read.
            let ended = unsafe { AtomicU8::from_ptr(self.ends.at(*number)) }.load(Ordering::Acquire);
            ended != 0 && !threads.entries[*number].definition.daemon
        };
        numbers.filter(is_over).map(|number| ThreadId(number as u32)).collect()
    }

    /// How many threads have been seen.
    pub fn thread_count(&self) -> usize {
        lock(&self.threads).entries.len()
    }

    /// A thread's table of accesses that say nothing new.
    pub fn settled_table(&self, block: &ThreadBlock) -> u64 {
        if block.settled.get() == 0 {
            block.settled.set(allocate(SETTLED) as u64);
        }
        block.settled.get()
    }

    /// Makes all threads look again at the arrays that they ignore.
    pub fn shake(&self) {
        for block in lock(&self.threads).entries.iter().filter_map(|entry| entry.block) {
            block.shaken.fetch_add(MIX, Ordering::SeqCst);
        }
    }

    /// Doubles a thread's shadow stack; gives its new top.
    pub fn grow_stack(&self, block: &ThreadBlock) -> u64 {
        let bottom = block.bottom.load(Ordering::Relaxed);
        let old = (block.stack_limit.get() - bottom) as usize;
        let stack = allocate(2 * old);
        // SAFETY: the old stack has `old` bytes, the new one twice that; they are different allocations.
        unsafe { std::ptr::copy_nonoverlapping(bottom as *const u8, stack, old) };
        release(bottom as *mut u8, old);
        let moved = (stack as u64).wrapping_sub(bottom);
        for pointer in [&block.top, &block.bottom] {
            pointer.store(pointer.load(Ordering::Relaxed).wrapping_add(moved), Ordering::Relaxed);
        }
        block.written.set(block.written.get().wrapping_add(moved));
        if block.opaque.get() != 0 {
            block.opaque.set(block.opaque.get().wrapping_add(moved));
        }
        let mut model = block.model_base.get();
        while model < block.model.get() {
            // SAFETY: the model stack holds whole frames between base and top, and only this thread uses them.
            let frame = unsafe { &mut *(model as *mut ModelFrame) };
            if frame.opaque != 0 {
                frame.opaque = frame.opaque.wrapping_add(moved);
            }
            model += size_of::<ModelFrame>() as u64;
        }
        block.stack_limit.set(stack as u64 + 2 * old as u64);
        block.top.load(Ordering::Relaxed)
    }

    /// The thread's last act: its remaining records go out, and its memory is given back. Later threads use the block; in a forced run
    /// the baton keeps it.
    pub fn end_thread(&self, block: &'static ThreadBlock) {
        block.ended.set(1);
        let number = block.thread as usize;
        if number < MAX_ENDS {
            // SAFETY: within the region, which lives as long as `self`; other threads only read the byte.
            unsafe { AtomicU8::from_ptr(self.ends.at(number)) }.store(1, Ordering::Release);
        }
        if block.settled.get() != 0 {
            release(block.settled.get() as *mut u8, SETTLED);
            block.settled.set(0);
        }
        self.close(block);
        drop(take_buffer(block));
        let mut threads = lock(&self.threads);
        // After the cut the collector may look at the block without the lock.
        // Inside one JVM there is no collector: nothing is recorded.
        if !self.options.inside && (self.options.is_forced() || self.cut.is_near()) {
            return;
        }
        if let Some(entry) = threads.entries.get_mut(number) {
            entry.block = None;
            entry.definition.name = String::new();
        }
        let usual = block.stack_limit.get() - block.bottom.load(Ordering::Relaxed) == (FIRST_STACK * FRAME) as u64;
        if !usual || threads.spare.len() >= SPARE_TABLES {
            dismantle(block);
        }
        threads.spare.push(block);
    }
}

/// Gives back what the block of an ended thread points to. The block itself stays: the table of owners has its address.
fn dismantle(block: &ThreadBlock) {
    let (bottom, limit) = (block.bottom.load(Ordering::Relaxed), block.stack_limit.get());
    release(bottom as *mut u8, (limit - bottom) as usize);
    release(block.model_base.get() as *mut u8, MODELS);
    release(block.repeats.replace(0) as *mut u8, REPEATS);
}

fn allocate(bytes: usize) -> *mut u8 {
    Box::leak(vec![0u64; bytes / 8].into_boxed_slice()).as_mut_ptr().cast()
}

fn release(memory: *mut u8, bytes: usize) {
    let slice = std::ptr::slice_from_raw_parts_mut(memory.cast::<u64>(), bytes / 8);
    // SAFETY: `memory` came from `allocate` with the same size and no pointer to it is left.
    drop(unsafe { Box::from_raw(slice) });
}
