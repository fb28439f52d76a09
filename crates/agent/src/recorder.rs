//! The recording itself: the global counter, the tables that instrumented code reads, the threads' buffers, and the one
//! thread that writes them out.
//!
//! Application threads never wait here but for back-pressure: a full buffer goes into a bounded channel, and the time
//! spent waiting for room in it is counted.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use ravel_trace::definition::Definition;
use ravel_trace::ids::ThreadId;
use ravel_trace::names::Thread;
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::run_info::{EndReason, Footer, Header};
use ravel_trace::writer::Writer;

use crate::memory::Region;
use crate::options::Options;
use crate::thread_block::{FRAME, MANY_SLOTS, MODELS, RECORD, REPEATS, SETTLED, SITE_SLOTS, ThreadBlock};

/// Sites that fit into the tables.
pub const MAX_SITES: usize = 1 << 22;
/// How many counts of samples there are; `Ravel.java` has the same number.
const SAMPLE_PLACES: usize = 1 << 24;
/// Places for the numbers of writes to volatile fields; a power of two that divides `MAX_SITES`.
const VOLATILES: usize = 4096;
/// Threads that can own objects; later ones share everything they touch.
pub const MAX_THREADS: usize = 1 << 20;
const OWNERS: usize = 1 << 20;
const REGIONS: usize = 1 << 20;
/// An odd number whose multiples differ in all bits.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const FIRST_BUFFER: usize = 64;
const LAST_BUFFER: usize = 8192;
const QUEUE: usize = 128;
const FIRST_STACK: usize = 128;
const ID_BLOCK: u64 = 1 << 12;
const GOODBYE: Duration = Duration::from_secs(60);

/// Buffers to be used again, the one that was last in use first: it is still in a cache.
type Spares = Arc<Mutex<Vec<Vec<RawRecord>>>>;

enum Message {
    Buffer(ThreadId, Vec<RawRecord>),
    Finish(Box<Footer>, Sender<Finished>),
}

/// How the writing ended.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// Bytes of the trace.
    pub bytes: u64,
    /// Records in it.
    pub records: u64,
    /// What went wrong, if anything did.
    pub error: Option<String>,
}

/// What instrumented code and the agent's callbacks share.
pub struct Recorder {
    /// What the user asked for.
    pub options: Options,
    /// Where the trace goes.
    pub path: PathBuf,
    sequence: Region<u64>,
    /// A byte per site: volatile, final.
    pub sites: Region<u8>,
    /// How often each thread was recorded at each site, when sampling.
    samples: Region<u8>,
    /// The number of the last write of each volatile field; some share a place.
    volatiles: Region<u64>,
    /// A word per site: the index of its field's word in the same table; the fields' words hold the owner of statics.
    pub statics: Region<u32>,
    /// The method of each site.
    pub methods: Region<u32>,
    for_races: bool,
    owners: Region<u64>,
    /// Who has a stretch of a shared array: a word for all that fall into it.
    regions: Region<u32>,
    blocks: Region<u64>,
    threads: Mutex<Vec<ThreadEntry>>,
    next_object: AtomicU64,
    next_number: AtomicU32,
    /// Names not yet handed to the writer. They wait here and not in the queue, so that loading classes never waits.
    names: Arc<Mutex<Vec<Definition>>>,
    queue: Sender<Message>,
    spare: Spares,
    stopped: AtomicBool,
    /// The global counter when the recording was ended early: nothing later is kept, of any thread.
    stopped_at: AtomicU64,
    end: Mutex<EndReason>,
    waited: AtomicU64,
    started: Instant,
}

struct ThreadEntry {
    block: *mut ThreadBlock,
    definition: Thread,
}

// SAFETY: the pointers are to blocks that live for ever; each block is written by its own thread, and by others only where
// `ThreadBlock` says so.
unsafe impl Send for Recorder {}
// SAFETY: as above; everything else in it is synchronised.
unsafe impl Sync for Recorder {}

impl Recorder {
    /// Opens the trace and starts the writer. A recording for races alone has few frames.
    pub fn start(options: Options, header: &Header, for_races: bool) -> Result<Recorder, String> {
        let path = PathBuf::from(
            options
                .out
                .to_string_lossy()
                .replace("%p", &std::process::id().to_string()),
        );
        let writer =
            Writer::create(&path, header).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let (queue, messages) = bounded(QUEUE);
        let spare = Spares::default();
        let give_back = Arc::clone(&spare);
        let max_size = options.max_size;
        let names = Arc::new(Mutex::new(Vec::new()));
        let new_names = Arc::clone(&names);
        let recorder = Recorder {
            options,
            path,
            sequence: Region::new(64)?,
            sites: Region::new(MAX_SITES)?,
            samples: Region::new(SAMPLE_PLACES)?,
            volatiles: Region::new(VOLATILES)?,
            statics: Region::new(2 * MAX_SITES)?,
            methods: Region::new(MAX_SITES)?,
            for_races,
            owners: Region::new(OWNERS)?,
            regions: Region::new(REGIONS)?,
            blocks: Region::new(MAX_THREADS + 2)?,
            threads: Mutex::new(Vec::new()),
            next_object: AtomicU64::new(1),
            next_number: AtomicU32::new(1),
            names,
            queue,
            spare,
            stopped: AtomicBool::new(false),
            stopped_at: AtomicU64::new(u64::MAX),
            end: Mutex::new(EndReason::Exit),
            waited: AtomicU64::new(0),
            started: Instant::now(),
        };
        recorder.counter().store(1, Ordering::Relaxed);
        std::thread::Builder::new()
            .name("ravel-writer".into())
            .spawn(move || write(writer, &messages, &new_names, &give_back, max_size))
            .map_err(|error| format!("cannot start the writer: {error}"))?;
        Ok(recorder)
    }

    /// The global counter: well away from everything else in its page.
    pub fn counter(&self) -> &AtomicU64 {
        // SAFETY: the region is zeroed memory for 64 words, aligned to a page, and lives as long as `self`.
        unsafe { AtomicU64::from_ptr(self.sequence.at(8)) }
    }

    /// The addresses that `Ravel.address` gives out.
    pub fn address(&self, which: i32) -> i64 {
        match which {
            0 => self.sequence.at(8) as i64,
            1 => self.sites.at(0) as i64,
            2 => self.statics.at(0) as i64,
            3 => self.owners.at(0) as i64,
            4 => {
                let o = &self.options;
                i64::from(o.keep_unshared)
                    | i64::from(o.keep_repeats) << 1
                    | i64::from(o.schedule.is_some()) << 2
                    | i64::from(o.noise.is_some()) << 3
                    | i64::from(self.for_races) << 4
            }
            5 => self.blocks.at(0) as i64,
            6 => self.regions.at(0) as i64,
            7 => self.volatiles.at(0) as i64,
            8 => self.samples.at(0) as i64,
            9 => i64::from(self.options.sample.unwrap_or(0)),
            10 => self.methods.at(0) as i64,
            // In a cache line of its own, away from the counter.
            11 => self.sequence.at(32) as i64,
            _ => 0,
        }
    }

    /// A new block for a thread that is about to start; its number is its place in the trace.
    pub fn new_thread(&self, parent: Option<ThreadId>, spawn_index: u32) -> *mut ThreadBlock {
        let mut threads = lock(&self.threads);
        let thread = threads.len() as u32;
        let stack = allocate(FIRST_STACK * FRAME) as u64;
        let models = allocate(MODELS) as u64;
        let seed = self.options.noise.map_or(0, |(seed, _)| seed as u32);
        let block = Box::leak(Box::new(ThreadBlock {
            cursor: 0,
            limit: 0,
            position: 0,
            tag: if (thread as usize) < MAX_THREADS - 2 {
                (thread + 1) << 1
            } else {
                (MAX_THREADS as u32 - 1) << 1
            },
            mark: 0,
            top: stack,
            written: stack,
            call: 0,
            step: 1,
            next_id: 0,
            last_id: 0,
            opaque: 0,
            stack_limit: stack + (FIRST_STACK * FRAME) as u64,
            segment: 1,
            stale: 0,
            stamp: 0,
            waiting: 0,
            model: models,
            nest: 0,
            novel: 0,
            bottom: stack,
            model_base: models,
            gate: if self.options.schedule.is_some() { 0 } else { u32::MAX },
            noise: (thread + 1).wrapping_mul(0x9E37_79B9) ^ seed,
            repeats: allocate(REPEATS) as u64,
            thread,
            children: 0,
            buffer: 0,
            buffer_size: 0,
            begun: 0,
            ended: 0,
            closed: 0,
            claims: 0,
            epoch: 1,
            shaken: 1,
            settled: 0,
            run_end: 0,
            held: 0,
            inside: 0,
            unused: 0,
            stretch: 0,
            sure_objects: [0; SITE_SLOTS],
            sure_arrays: [0; SITE_SLOTS],
            vain: [0; SITE_SLOTS],
            sure_of_many: [0; MANY_SLOTS],
            workers: 0,
        }));
        if (thread as usize) < MAX_THREADS {
            // SAFETY: within the region; the slot is written once, before any array can have this owner.
            unsafe {
                self.blocks
                    .at(thread as usize + 1)
                    .write(std::ptr::from_mut(block) as u64)
            };
        }
        let definition = Thread {
            parent,
            spawn_index,
            ..Thread::default()
        };
        threads.push(ThreadEntry { block, definition });
        block
    }

    /// A thread by who started it and in which order: `main/0/2`.
    pub fn thread_path(&self, thread: ThreadId) -> String {
        let threads = lock(&self.threads);
        let mut indices = Vec::new();
        let mut at = threads.get(thread.index());
        while let Some(entry) = at {
            let Some(parent) = entry.definition.parent else { break };
            indices.push(entry.definition.spawn_index.to_string());
            at = threads.get(parent.index());
        }
        indices.push("main".to_string());
        indices.reverse();
        indices.join("/")
    }

    /// Says what is known of a thread, how it ended among it: that is told even of a recording that was ended early.
    pub fn describe_thread(&self, thread: ThreadId, change: impl FnOnce(&mut Thread)) {
        let definition = {
            let mut threads = lock(&self.threads);
            let Some(entry) = threads.get_mut(thread.index()) else {
                return;
            };
            change(&mut entry.definition);
            entry.definition.clone()
        };
        lock(&self.names).push(Definition::Thread(thread, definition));
    }

    /// How many threads have been seen.
    pub fn thread_count(&self) -> usize {
        lock(&self.threads).len()
    }

    /// Reserves object ids for a thread.
    pub fn reserve_ids(&self, block: &mut ThreadBlock) -> u64 {
        let first = self.next_object.fetch_add(ID_BLOCK, Ordering::Relaxed);
        block.next_id = first;
        block.last_id = first + ID_BLOCK;
        first
    }

    /// A thread's table of accesses that say nothing new.
    pub fn settled_table(&self, block: &mut ThreadBlock) -> u64 {
        if block.settled == 0 {
            block.settled = allocate(SETTLED) as u64;
        }
        block.settled
    }

    /// Makes all threads look again at the arrays of which they take no notice.
    pub fn shake(&self) {
        for entry in lock(&self.threads).iter() {
            // SAFETY: blocks live for ever, and this word of them is only ever changed atomically.
            unsafe { AtomicU64::from_ptr(&raw mut (*entry.block).shaken) }.fetch_add(MIX, Ordering::SeqCst);
        }
    }

    /// A number for an object without a word.
    pub fn number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Doubles a thread's shadow stack; gives its new top.
    pub fn grow_stack(&self, block: &mut ThreadBlock) -> u64 {
        let old = (block.stack_limit - block.bottom) as usize;
        let stack = allocate(2 * old);
        // SAFETY: the old stack has `old` bytes, the new one twice that; they are different allocations.
        unsafe { std::ptr::copy_nonoverlapping(block.bottom as *const u8, stack, old) };
        release(block.bottom as *mut u8, old);
        let moved = (stack as u64).wrapping_sub(block.bottom);
        for pointer in [&mut block.top, &mut block.written, &mut block.bottom] {
            *pointer = pointer.wrapping_add(moved);
        }
        if block.opaque != 0 {
            block.opaque = block.opaque.wrapping_add(moved);
        }
        let mut model = block.model_base;
        while model < block.model {
            // SAFETY: the model stack holds whole frames of 40 bytes between base and top; the word at 16 - 8 is a
            // saved stack top, or 0.
            unsafe {
                let saved = (model + 8) as *mut u64;
                if saved.read() != 0 {
                    saved.write(saved.read().wrapping_add(moved));
                }
            }
            model += 40;
        }
        block.stack_limit = stack as u64 + 2 * old as u64;
        block.top
    }

    /// Adds a record on behalf of the thread of `block`.
    pub fn append(&self, block: &mut ThreadBlock, kind: RawKind, site: u32, a: u64, b: u64) {
        if block.cursor == block.limit {
            self.flush(block);
        }
        // SAFETY: the cursor is inside the thread's buffer, at a multiple of a record's size; only the thread (or, before
        // it starts and after it ends, whoever starts or ends it) gets here.
        unsafe { (block.cursor as *mut RawRecord).write(RawRecord::new(kind, site, block.position, a, b)) };
        block.cursor += RECORD as u64;
    }

    /// Adds a record with a number of its own.
    pub fn append_numbered(&self, block: &mut ThreadBlock, kind: RawKind, site: u32, a: u64) {
        block.segment = block.segment.wrapping_add(1);
        let number = self.counter().fetch_add(1, Ordering::SeqCst);
        self.append(block, kind, site, a, number);
    }

    /// Hands a thread's buffer to the writer and gives it an empty one; the new cursor.
    pub fn flush(&self, block: &mut ThreadBlock) -> u64 {
        if block.buffer != 0 && self.stopped.load(Ordering::Relaxed) {
            self.close(block);
            block.cursor = block.buffer;
            return block.cursor;
        }
        let full = take_buffer(block);
        let size = full
            .as_ref()
            .map_or(FIRST_BUFFER, |full| (2 * full.capacity()).min(LAST_BUFFER));
        if let Some(full) = full {
            self.send(Message::Buffer(ThreadId(block.thread), full));
        }
        let spare = match self.spare.try_lock() {
            Ok(mut spares) if size == LAST_BUFFER => spares.pop(),
            _ => None,
        };
        let mut fresh = spare.unwrap_or_else(|| Vec::with_capacity(size));
        fresh.clear();
        block.buffer = fresh.as_mut_ptr() as u64;
        block.buffer_size = fresh.capacity() as u64;
        block.cursor = block.buffer;
        block.limit = block.buffer + (fresh.capacity() * RECORD) as u64;
        std::mem::forget(fresh);
        block.cursor
    }

    /// Hands over what a thread recorded before the recording was ended early.
    fn close(&self, block: &mut ThreadBlock) {
        if block.closed != 0 || block.buffer == 0 {
            return;
        }
        block.closed = 1;
        let count = (block.cursor - block.buffer) as usize / RECORD;
        // SAFETY: every record below the cursor has been written, and the buffer stays the thread's.
        let records = unsafe { std::slice::from_raw_parts(block.buffer as *const RawRecord, count) };
        let kept = records[..before(records, self.stopped_at.load(Ordering::SeqCst))].to_vec();
        if !kept.is_empty() {
            self.send(Message::Buffer(ThreadId(block.thread), kept));
        }
    }

    /// The thread's last act: its remaining records go out, its memory is given back but for the block itself.
    pub fn end_thread(&self, block: &mut ThreadBlock) {
        block.ended = 1;
        if block.settled != 0 {
            release(block.settled as *mut u8, SETTLED);
            block.settled = 0;
        }
        if self.stopped.load(Ordering::Relaxed) {
            self.close(block);
            drop(take_buffer(block));
        } else if let Some(rest) = take_buffer(block) {
            self.send(Message::Buffer(ThreadId(block.thread), rest));
        }
    }

    /// Names an id in the trace.
    pub fn define(&self, definition: Definition) {
        if !self.stopped.load(Ordering::Relaxed) {
            lock(&self.names).push(definition);
        }
    }

    fn send(&self, message: Message) {
        let Err(full) = self.queue.try_send(message) else {
            return;
        };
        let since = Instant::now();
        // An error means that the writer is gone: the recording has ended.
        let _ = self.queue.send(full.into_inner());
        self.waited
            .fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Ends the recording while the program goes on.
    pub fn stop(&self, reason: EndReason) {
        let now = self.counter().load(Ordering::SeqCst);
        if self
            .stopped_at
            .compare_exchange(u64::MAX, now, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
        {
            *lock(&self.end) = reason;
            self.stopped.store(true, Ordering::SeqCst);
        }
    }

    /// Since when the recording runs.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether a limit has been reached; checked by the ticker.
    pub fn check_limits(&self) {
        if self
            .options
            .max_time
            .is_some_and(|limit| self.started.elapsed() >= limit)
        {
            self.stop(EndReason::TimeLimit);
        }
        if WRITER_FULL.load(Ordering::Relaxed) {
            self.stop(EndReason::SizeLimit);
        }
        if WRITER_FAILED.load(Ordering::Relaxed) {
            self.stop(EndReason::Other("the trace could not be written".into()));
        }
    }

    /// Moves the global counter on, so that accesses between synchronisation are placed near the time they happened.
    pub fn tick(&self) {
        self.counter().fetch_add(1, Ordering::Relaxed);
    }

    /// Collects what the threads still hold and closes the trace.
    pub fn finish(&self, mut footer: Footer) -> Finished {
        self.check_limits();
        self.stopped.store(true, Ordering::SeqCst);
        footer.ended = lock(&self.end).clone();
        footer.back_pressure_nanos = self.waited.load(Ordering::Relaxed);
        let blocks: Vec<*mut ThreadBlock> = lock(&self.threads).iter().map(|entry| entry.block).collect();
        for block in blocks {
            // SAFETY: blocks live for ever. The thread may still run: what lies below its cursor is complete, because
            // the cursor moves after the record (x86 and the JIT keep the stores of one thread in order), and the
            // buffer is copied, not taken.
            unsafe {
                let block = &mut *block;
                let (start, cursor) = (block.buffer, std::ptr::read_volatile(&raw const block.cursor));
                if block.ended == 0 && block.closed == 0 && start != 0 && cursor > start {
                    let count = ((cursor - start) as usize / RECORD).min(block.buffer_size as usize);
                    let mut rest = std::slice::from_raw_parts(start as *const RawRecord, count).to_vec();
                    rest.truncate(before(&rest, self.stopped_at.load(Ordering::SeqCst)));
                    let _ = self
                        .queue
                        .send_timeout(Message::Buffer(ThreadId(block.thread), rest), GOODBYE);
                }
            }
        }
        let (answer, done) = bounded(1);
        let _ = self
            .queue
            .send_timeout(Message::Finish(Box::new(footer), answer), GOODBYE);
        done.recv_timeout(GOODBYE).unwrap_or_else(|_| Finished {
            error: Some("the writer did not finish in time".into()),
            ..Finished::default()
        })
    }
}

static WRITER_FULL: AtomicBool = AtomicBool::new(false);
static WRITER_FAILED: AtomicBool = AtomicBool::new(false);

fn write(
    writer: Writer<std::fs::File>,
    messages: &Receiver<Message>,
    names: &Mutex<Vec<Definition>>,
    give_back: &Spares,
    max_size: Option<u64>,
) {
    let mut writer = Some(writer);
    let mut outcome = Finished::default();
    for message in messages {
        let new = std::mem::take(&mut *lock(names));
        let named = writer
            .as_mut()
            .map_or(Ok(()), |open| new.iter().try_for_each(|name| open.define(name)));
        let written = match (message, writer.as_mut()) {
            (Message::Buffer(thread, records), Some(open)) => {
                // What comes until the threads hear of it is still written: a trace with holes would mislead.
                if max_size.is_some_and(|limit| open.bytes_written() >= limit) {
                    WRITER_FULL.store(true, Ordering::Relaxed);
                }
                let result = open.buffer(thread, &records);
                let mut spares = lock(give_back);
                if records.capacity() >= LAST_BUFFER && spares.len() < QUEUE {
                    spares.push(records);
                }
                result
            }
            (Message::Finish(footer, answer), open) => {
                if let Some(open) = open {
                    outcome.bytes = open.bytes_written();
                    outcome.records = open.records_written();
                }
                if let Some(Err(error)) = writer.take().map(|open| open.finish(&footer)) {
                    outcome.error.get_or_insert(error.to_string());
                }
                let _ = answer.send(outcome);
                return;
            }
            _ => Ok(()),
        };
        if let Err(error) = named.and(written)
            && let Some(open) = writer.take()
        {
            outcome = Finished {
                bytes: open.bytes_written(),
                records: open.records_written(),
                error: Some(error.to_string()),
            };
            WRITER_FAILED.store(true, Ordering::Relaxed);
        }
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
fn take_buffer(block: &mut ThreadBlock) -> Option<Vec<RawRecord>> {
    if block.buffer == 0 {
        return None;
    }
    let count = ((block.cursor - block.buffer) as usize) / RECORD;
    // SAFETY: `flush` made these three from a vector that it forgot; every record below the cursor has been written.
    let records = unsafe { Vec::from_raw_parts(block.buffer as *mut RawRecord, count, block.buffer_size as usize) };
    (block.buffer, block.cursor, block.limit, block.buffer_size) = (0, 0, 0, 0);
    Some(records)
}

fn allocate(bytes: usize) -> *mut u8 {
    Box::leak(vec![0u64; bytes / 8].into_boxed_slice()).as_mut_ptr().cast()
}

fn release(memory: *mut u8, bytes: usize) {
    let slice = std::ptr::slice_from_raw_parts_mut(memory.cast::<u64>(), bytes / 8);
    // SAFETY: `memory` came from `allocate` with the same size and nobody uses it any more.
    drop(unsafe { Box::from_raw(slice) });
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
