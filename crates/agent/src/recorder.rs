//! The recording itself: the global counter, the tables that instrumented code reads, the threads' buffers, and the one
//! thread that writes them out.
//!
//! Application threads never wait here but for back-pressure: a full buffer goes into a bounded channel, and the time
//! spent waiting for room in it is counted.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use fastrand::Rng;
use ravel_trace::definition::Definition;
use ravel_trace::ids::ThreadId;
use ravel_trace::names::Thread;
use ravel_trace::raw::{RawKind, RawRecord};
use ravel_trace::run_info::{EndReason, Footer, Header};
use ravel_trace::writer::Writer;

use crate::handover::{Cut, Hand};
use crate::memory::Region;
use crate::options::Options;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::thread_block::{FRAME, MANY_SLOTS, MODELS, ModelFrame, RECORD, REPEATS, SETTLED, SITE_SLOTS, ThreadBlock};

/// Sites that fit into the tables.
pub const MAX_SITES: usize = 1 << 22;
/// How many counts of samples there are.
pub const SAMPLE_PLACES: usize = 1 << 24;
/// Places for the numbers of writes to volatile fields; a power of two that divides `MAX_SITES`.
pub const VOLATILES: usize = 4096;
/// Threads that can own objects have smaller numbers; all that later ones touch counts as shared.
pub const MAX_THREADS: usize = 1 << 20;
/// The tag of the threads that own nothing. No object has it.
pub const TAG_OF_LATE: u32 = (MAX_THREADS as u32 - 1) << 1;
/// Threads whose end is known to those that join them. The table is memory only as far as it is used.
pub const MAX_ENDS: usize = 1 << 26;
/// Blocks of ended threads that keep their stacks and tables, to be used again.
const SPARE_TABLES: usize = 4096;
/// Places for the threads that have arrays alone, by hash.
pub const OWNERS: usize = 1 << 20;
/// Places for the claims to stretches of shared arrays, by hash.
pub const REGIONS: usize = 1 << 20;
/// An odd number whose multiples differ in all bits.
pub const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const FIRST_BUFFER: usize = 64;
const LAST_BUFFER: usize = 8192;
/// Records of the buffer of a thread that goes on after the end of the trace.
const SCRATCH: usize = 1024;
const QUEUE: usize = 128;
const FIRST_STACK: usize = 128;
const ID_BLOCK: u64 = 1 << 12;
/// Bytes of the memory for a thread that has none: the largest table of one.
const SPILL: usize = SETTLED;
const GOODBYE: Duration = Duration::from_secs(60);

/// The numbers by which the Java helper classes ask for the address of a field of [`Recorder`], or for an option.
pub mod address {
    pub const SEQUENCE: i32 = 0;
    pub const SITES: i32 = 1;
    pub const STATICS: i32 = 2;
    pub const OWNERS: i32 = 3;
    pub const FLAGS: i32 = 4;
    pub const BLOCKS: i32 = 5;
    pub const REGIONS: i32 = 6;
    pub const VOLATILES: i32 = 7;
    pub const SAMPLES: i32 = 8;
    pub const SAMPLE: i32 = 9;
    pub const INITIALIZATIONS: i32 = 10;
    pub const ENDS: i32 = 11;
}

/// Bits of the answer to `address::FLAGS`.
pub mod flag {
    /// Objects are recorded that one thread has alone.
    pub const KEEP_UNSHARED: i64 = 1;
    /// Accesses are recorded that say nothing new.
    pub const KEEP_REPEATS: i64 = 2;
    /// The run is forced.
    pub const FORCING: i64 = 4;
    /// Threads are delayed at random.
    pub const WITH_NOISE: i64 = 8;
    /// The recording is for races alone: it has frames only where code outside the program calls, and where methods lock.
    pub const FOR_RACES: i64 = 16;
}

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
    for_races: bool,
    owners: Region<u64>,
    /// Who has a stretch of a shared array: a word for all that fall into it.
    regions: Region<u32>,
    blocks: Region<u64>,
    /// A byte for each thread: 1 once it has ended.
    ends: Region<u8>,
    /// Where a thread writes to that could not be given memory of its own. Nothing reads it.
    spill: Region<u8>,
    threads: Mutex<Threads>,
    next_object: AtomicU64,
    next_number: AtomicU32,
    /// Names not yet handed to the writer. They wait here and not in the queue, so that loading classes never waits.
    names: Arc<Mutex<Vec<Definition>>>,
    queue: Sender<Message>,
    spare: Spares,
    /// Where the trace ends: nothing later is kept, of any thread.
    cut: Cut,
    end: Mutex<EndReason>,
    waited: AtomicU64,
    started: Instant,
}

#[derive(Default)]
struct Threads {
    entries: Vec<ThreadEntry>,
    /// Blocks of threads that have ended, to be used again.
    spare: Vec<&'static ThreadBlock>,
}

struct ThreadEntry {
    /// None once the thread has ended.
    block: Option<&'static ThreadBlock>,
    definition: Thread,
}

// SAFETY: the cells of a block belong to its thread, and other threads use a block of the list only as `ThreadBlock` says; everything
// else in it can be sent.
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
            for_races,
            owners: Region::new(OWNERS)?,
            regions: Region::new(REGIONS)?,
            blocks: Region::new(MAX_THREADS + 2)?,
            ends: Region::new(MAX_ENDS)?,
            spill: Region::new(SPILL)?,
            threads: Mutex::new(Threads::default()),
            next_object: AtomicU64::new(1),
            next_number: AtomicU32::new(1),
            names,
            queue,
            spare,
            cut: Cut::new(),
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
            address::SEQUENCE => self.sequence.at(8) as i64,
            address::SITES => self.sites.at(0) as i64,
            address::STATICS => self.statics.at(0) as i64,
            address::OWNERS => self.owners.at(0) as i64,
            address::FLAGS => self.flags(),
            address::BLOCKS => self.blocks.at(0) as i64,
            address::REGIONS => self.regions.at(0) as i64,
            address::VOLATILES => self.volatiles.at(0) as i64,
            address::SAMPLES => self.samples.at(0) as i64,
            address::SAMPLE => i64::from(self.options.sample.unwrap_or(0)),
            // In a cache line of its own, away from the counter.
            address::INITIALIZATIONS => self.sequence.at(32) as i64,
            address::ENDS => self.ends.at(0) as i64,
            _ => 0,
        }
    }

    fn flags(&self) -> i64 {
        let options = &self.options;
        [
            (options.keep_unshared, flag::KEEP_UNSHARED),
            (options.keep_repeats, flag::KEEP_REPEATS),
            (options.schedule.is_some(), flag::FORCING),
            (options.noise.is_some(), flag::WITH_NOISE),
            (self.for_races, flag::FOR_RACES),
        ]
        .into_iter()
        .filter_map(|(set, bit)| set.then_some(bit))
        .sum()
    }

    /// A block for a thread that is about to start; its number is its place in the trace.
    pub fn new_thread(&self, parent: Option<ThreadId>, spawn_index: u32) -> &'static ThreadBlock {
        let mut threads = lock(&self.threads);
        let thread = threads.entries.len() as u32;
        if thread as usize >= MAX_ENDS {
            self.stop(EndReason::Other(format!("more than {MAX_ENDS} threads")));
        }
        // The collector may still look at the block of a thread that ended late.
        let spare = threads.spare.pop().filter(|_| !self.cut.is_near());
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
            gate: AtomicU32::new(if self.options.schedule.is_some() { 0 } else { u32::MAX }),
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
            epoch: Cell::new(1),
            shaken: AtomicU64::new(1),
            settled: Cell::new(0),
            run_end: Cell::new(0),
            held: Cell::new(0),
            inside: Cell::new(0),
            called: Cell::new(0),
            stretch: Cell::new(0),
            sure_objects: Cell::new([0; SITE_SLOTS]),
            sure_arrays: Cell::new([0; SITE_SLOTS]),
            vain: Cell::new([0; SITE_SLOTS]),
            sure_of_many: Cell::new([0; MANY_SLOTS]),
            workers: Cell::new(0),
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
            // SAFETY: within the region; the slot is written once, before any array can have this owner.
            unsafe {
                self.blocks
                    .at(thread as usize + 1)
                    .write(std::ptr::from_ref(block) as u64)
            };
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

    /// A thread by who started it and in which order: `main/0/2`.
    pub fn thread_path(&self, thread: ThreadId) -> String {
        let threads = lock(&self.threads);
        let mut indices = Vec::new();
        let mut at = threads.entries.get(thread.index());
        while let Some(entry) = at {
            let Some(parent) = entry.definition.parent else { break };
            indices.push(entry.definition.spawn_index.to_string());
            at = threads.entries.get(parent.index());
        }
        indices.push("main".to_string());
        indices.reverse();
        indices.join("/")
    }

    /// Says what is known of a thread, how it ended among it: that is told even of a recording that was ended early.
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

    /// How many threads have been seen.
    pub fn thread_count(&self) -> usize {
        lock(&self.threads).entries.len()
    }

    /// Reserves object ids for a thread.
    pub fn reserve_ids(&self, block: &ThreadBlock) -> u64 {
        let first = self.next_object.fetch_add(ID_BLOCK, Ordering::Relaxed);
        block.next_id.set(first);
        block.last_id.set(first + ID_BLOCK);
        first
    }

    /// A thread's table of accesses that say nothing new.
    pub fn settled_table(&self, block: &ThreadBlock) -> u64 {
        if block.settled.get() == 0 {
            block.settled.set(allocate(SETTLED) as u64);
        }
        block.settled.get()
    }

    /// Makes all threads look again at the arrays of which they take no notice.
    pub fn shake(&self) {
        for block in lock(&self.threads).entries.iter().filter_map(|entry| entry.block) {
            block.shaken.fetch_add(MIX, Ordering::SeqCst);
        }
    }

    /// A number for an object without a word.
    pub fn number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
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
    fn close(&self, block: &ThreadBlock) {
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
        if self.options.schedule.is_some() || self.cut.is_near() {
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

    /// For a thread that cannot be given memory: a place that it may write to.
    pub fn spill(&self) -> u64 {
        self.spill.at(0) as u64
    }

    /// Ends a thread's part of the trace without its last records: they could not be handed over.
    pub fn abandon(&self, block: &ThreadBlock) {
        block.hand.close(|| drop(take_buffer(block)));
        // If its part was complete before, the buffer is the thread's own.
        drop(take_buffer(block));
    }

    /// Names an id in the trace.
    pub fn define(&self, definition: Definition) {
        if !self.cut.is_near() {
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
        let mut end = lock(&self.end);
        if self.cut.make(self.counter()) {
            *end = reason;
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
        self.stop(EndReason::Exit);
        footer.ended = lock(&self.end).clone();
        footer.back_pressure_nanos = self.waited.load(Ordering::Relaxed);
        let blocks: Vec<&ThreadBlock> = {
            let threads = lock(&self.threads);
            threads.entries.iter().filter_map(|entry| entry.block).collect()
        };
        let deadline = Instant::now() + GOODBYE;
        for block in blocks {
            // A thread that hands a full buffer over waits for the writer at most.
            let rest = block
                .hand
                .collect(|| Instant::now() < deadline, || self.copy_rest(block));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                let _ = self
                    .queue
                    .send_timeout(Message::Buffer(ThreadId(block.thread), rest), GOODBYE);
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

    /// The records of a thread that may still run, up to the end of the trace. For the collector, while it holds the thread's hand.
    fn copy_rest(&self, block: &ThreadBlock) -> Vec<RawRecord> {
        let (start, cursor) = (block.buffer.get(), block.cursor.load(Ordering::Acquire));
        if start == 0 {
            return Vec::new();
        }
        let count = (cursor.saturating_sub(start) as usize / RECORD).min(block.buffer_size.get() as usize);
        // SAFETY: the thread neither moves nor frees the buffer meanwhile, and does not go back in it. All below the cursor is
        // complete, because the cursor moves after the record (x86 and the JIT keep the stores of one thread in order).
        let mut rest = unsafe { std::slice::from_raw_parts(start as *const RawRecord, count) }.to_vec();
        rest.truncate(before(&rest, self.cut.at()));
        rest
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
fn take_buffer(block: &ThreadBlock) -> Option<Vec<RawRecord>> {
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
    // SAFETY: `memory` came from `allocate` with the same size and nobody uses it any more.
    drop(unsafe { Box::from_raw(slice) });
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ravel_trace::{Op, ReadOptions, Reader, Source};

    use super::*;

    /// For a thread of the test that stands for the block's own.
    struct Own(&'static ThreadBlock);

    // SAFETY: the test hands each block to one thread and does not use it itself.
    unsafe impl Send for Own {}

    /// A thread that records until it has passed `points` and then ends.
    fn record(recorder: &Recorder, own: Own, points: u32) {
        let block = own.0;
        recorder.append_numbered(block, RawKind::Begin, 0, 0);
        for point in 1..=points {
            block.position.store(point, Ordering::Relaxed);
            recorder.append_numbered(block, RawKind::Send, 0, 1);
        }
        recorder.append_numbered(block, RawKind::End, 0, 0);
        recorder.end_thread(block);
    }

    fn recorder(folder: &std::path::Path) -> Recorder {
        let options = Options::parse(&format!("out={}", folder.join("t.ravel").display())).expect("options");
        Recorder::start(options, &Header::default(), false).expect("a recording")
    }

    /// A thread gets the block of one that has ended, with nothing left in it, and its records are its own.
    #[test]
    #[cfg_attr(miri, ignore = "Miri cannot call the C code of zstd")]
    fn blocks_of_ended_threads_are_used_again() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let recorder = recorder(folder.path());
        let mut addresses = std::collections::BTreeSet::new();
        for thread in 0..500 {
            let block = recorder.new_thread(None, thread);
            assert_eq!((block.thread, block.ended.get(), block.position()), (thread, 0, 0));
            assert_eq!(block.frames().1, 0);
            addresses.insert(std::ptr::from_ref(block) as usize);
            if thread % 100 == 0 {
                // A deep stack is given back, and the next thread gets a new one.
                recorder.grow_stack(block);
            }
            record(&recorder, Own(block), thread % 5);
        }
        assert_eq!(addresses.len(), 1);
        assert_eq!(recorder.finish(Footer::default()).error, None);
        let mut reader = Reader::open(folder.path().join("t.ravel"), ReadOptions::default()).expect("a trace");
        let mut sent = vec![0; 500];
        while let Some(event) = reader.next_event().expect("a sound trace") {
            if matches!(event.op, Op::Send { .. }) {
                sent[event.thread.index()] += 1;
            }
        }
        assert!(sent.iter().enumerate().all(|(thread, sent)| *sent == thread % 5));
    }

    /// The trace ends while threads flush, end, or go on: each thread has its first points in it, none twice and none left out.
    #[test]
    #[cfg_attr(miri, ignore = "Miri cannot call the C code of zstd")]
    fn a_trace_that_ends_at_any_time_has_each_record_once() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        for round in 0..40u64 {
            let recorder = recorder(folder.path());
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let own = Own(recorder.new_thread(None, thread));
                    let recorder = &recorder;
                    scope.spawn(move || record(recorder, own, 2000));
                }
                // The rounds end at different points of the work.
                while recorder.counter().load(Ordering::Relaxed) < round * 150 {
                    std::thread::yield_now();
                }
                let finished = recorder.finish(Footer::default());
                assert_eq!(finished.error, None);
            });
            let path = folder.path().join("t.ravel");
            let mut reader = Reader::open(&path, ReadOptions::default()).expect("a trace");
            let mut passed = [0; 3];
            while let Some(event) = reader.next_event().expect("a sound trace") {
                if matches!(event.op, Op::Send { .. }) {
                    let last = &mut passed[event.thread.index()];
                    assert_eq!(
                        event.position,
                        *last + 1,
                        "round {round}, thread {}",
                        event.thread.index()
                    );
                    *last = event.position;
                }
            }
        }
    }
}
