//! The recording itself: the global counter, the tables that instrumented code reads, its limits and its end. The threads' blocks,
//! their buffers and the thread that writes them have modules of their own.
//!
//! Application threads never wait here but for back-pressure: a full buffer goes into a bounded channel, and the time
//! spent waiting for room in it is counted.

mod buffers;
mod threads;
pub mod told;
mod writer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use ravel_trace::definition::Definition;
use ravel_trace::ids::ThreadId;
use ravel_trace::run_info::{EndReason, Footer, Header};
use ravel_trace::writer::Writer;

use self::threads::Threads;
use self::told::ToldValues;
use self::writer::{Message, QUEUE, Spares};
use crate::handover::Cut;
use crate::memory::Region;
use crate::options::Options;
use crate::registry::HINT_WRITES;
use crate::search::Op;
use crate::supported;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::thread_block::{SETTLED, ThreadBlock};

pub use self::writer::Finished;

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
/// Places for the threads that have arrays alone, by hash.
pub const OWNERS: usize = 1 << 20;
/// Places for the claims to stretches of shared arrays, by hash.
pub const REGIONS: usize = 1 << 20;
/// An odd number whose multiples differ in all bits.
pub const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
/// Where it stands, in the page of the counter, that the program asks locks for their state.
const LOCKS_ASKED: usize = 40;
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
    pub const HINTS: i32 = 12;
    pub const RELEASE: i32 = 13;
    // The next two belong to `attach::Attached`.
    pub const THREADS: i32 = 14;
    pub const MODE: i32 = 15;
    pub const LOCKS_ASKED: i32 = 16;
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
    /// A scheduler decides at each point which thread goes on; the code is that of a forced run.
    pub const SEARCHING: i64 = 32;
    /// The program runs again and again inside this JVM.
    pub const INSIDE_JVM: i64 = 64;
    /// The processor shows stores and loads in another order than that of the program.
    pub const FENCES: i64 = 128;
    /// The JVM was running before Ravel came.
    pub const ATTACHED: i64 = 256;
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
    /// A byte for each site, for the scheduler of a search.
    pub hints: Region<u8>,
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
    /// Values in words; none unless the run is forced.
    pub told: Option<Arc<ToldValues>>,
    end: Mutex<EndReason>,
    waited: AtomicU64,
    started: Instant,
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
        let told = (options.is_forced() && options.search.is_none()).then(Arc::<ToldValues>::default);
        let new_told = told.clone();
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
            hints: Region::new(MAX_SITES)?,
            spill: Region::new(SPILL)?,
            threads: Mutex::new(Threads::default()),
            next_object: AtomicU64::new(1),
            next_number: AtomicU32::new(1),
            names,
            queue,
            spare,
            cut: Cut::new(),
            told,
            end: Mutex::new(EndReason::Exit),
            waited: AtomicU64::new(0),
            started: Instant::now(),
        };
        recorder.counter().store(1, Ordering::Relaxed);
        std::thread::Builder::new()
            .name("ravel-writer".into())
            .spawn(move || writer::write(writer, &messages, &new_names, &give_back, new_told.as_deref(), max_size))
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
            // Beside what is seldom written.
            address::LOCKS_ASKED => self.sequence.at(LOCKS_ASKED) as i64,
            address::HINTS => self.hints.at(0) as i64,
            address::RELEASE => i64::from(supported::release().min(i32::MAX as u32)),
            _ => 0,
        }
    }

    /// The program asks locks for their state: from now on changes of it are recorded.
    pub fn asks_locks(&self) {
        // SAFETY: the region is zeroed memory for 64 words, aligned to a page, and lives as long as `self`.
        unsafe { AtomicU64::from_ptr(self.sequence.at(LOCKS_ASKED)) }.store(1, Ordering::Relaxed);
    }

    fn flags(&self) -> i64 {
        let options = &self.options;
        [
            (options.keep_unshared, flag::KEEP_UNSHARED),
            (options.keep_repeats, flag::KEEP_REPEATS),
            (options.is_forced(), flag::FORCING),
            (options.noise.is_some(), flag::WITH_NOISE),
            (self.for_races, flag::FOR_RACES),
            (options.search.is_some(), flag::SEARCHING),
            (options.inside, flag::INSIDE_JVM),
            (options.needs_fences(), flag::FENCES),
            (options.attach.is_some(), flag::ATTACHED),
        ]
        .into_iter()
        .filter_map(|(set, bit)| set.then_some(bit))
        .sum()
    }

    /// Reserves object ids for a thread.
    pub fn reserve_ids(&self, block: &ThreadBlock) -> u64 {
        let first = self.next_object.fetch_add(ID_BLOCK, Ordering::Relaxed);
        block.next_id.set(first);
        block.last_id.set(first + ID_BLOCK);
        first
    }

    /// A number for an object without a word.
    pub fn number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// For a thread that cannot be given memory: a place that it may write to.
    pub fn spill(&self) -> u64 {
        self.spill.at(0) as u64
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

    /// Whether the recording has ended.
    pub fn is_over(&self) -> bool {
        self.cut.is_near()
    }

    /// Since when the recording runs.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What the access at a site does, for the scheduler of a search.
    pub fn op_at(&self, site: usize) -> Op {
        if site >= MAX_SITES {
            return Op::Step;
        }
        // SAFETY: both are within their regions; a byte and a word are read whole.
        let (field, hint) = unsafe { (self.statics.at(site).read(), self.hints.at(site).read()) };
        Op::Access {
            field,
            writes: hint & HINT_WRITES != 0,
        }
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
        if writer::FULL.load(Ordering::Relaxed) {
            self.stop(EndReason::SizeLimit);
        }
        if writer::FAILED.load(Ordering::Relaxed) {
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
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ravel_trace::raw::RawKind;
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
