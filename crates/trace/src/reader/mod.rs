//! Reads a trace file as one stream of events in global order.
//!
//! Opening walks over the blocks once: it reads the tables and notes where each thread's buffers are. Reading then
//! merges the threads, unpacking one block of each at a time. A thread runs on until another has an earlier record;
//! among equals the lower thread goes first. The order depends on the file alone.

mod index;
mod input;
mod intern;
mod resolve;
mod tables;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::path::Path;

use rustc_hash::FxHashMap;

pub(crate) use resolve::OBJECT_MASK;
pub use resolve::Statistics;

use crate::columns::{Decoder, Record, ValueTag};
use crate::error::{TraceError, Warning};
use crate::event::{Event, Op, Value};
use crate::held::Reentrancy;
use crate::ids::{LockId, ObjectId, ThreadId};
use crate::names::Names;
use crate::run_info::{Footer, Header, LeftFiles, StandardInput, ThreadCount};
use crate::source::{Source, SourceError};
use index::{BlockRef, Index};
use input::{Input, PayloadError, Unpacker};
use resolve::{Access, EntryTarget, Resolved, Resolver};

/// How to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Pass over damage in the middle of the file instead of stopping at it.
    pub salvage: bool,
}

/// What a trace comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Its events.
    pub events: u64,
    /// Threads that do more than begin and end.
    pub threads: usize,
    /// What a reader warns of.
    pub warnings: Vec<Warning>,
}

/// Records of one thread taken apart at a time.
const BATCH: usize = 512;

/// The records of one thread.
struct Stream {
    /// The recorder's number of the thread.
    raw: ThreadId,
    thread: ThreadId,
    /// In the order of the file.
    blocks: Vec<BlockRef>,
    /// The first block that is still to be read.
    next_block: usize,
    decoder: Decoder,
    batch: Vec<Record>,
    at: usize,
    places: Vec<EntryTarget>,
    held: Reentrancy<LockId>,
    began: bool,
    ended: bool,
}

impl Stream {
    fn new(raw: ThreadId, thread: ThreadId, blocks: Vec<BlockRef>) -> Self {
        Stream {
            raw,
            thread,
            blocks,
            next_block: 0,
            decoder: Decoder::default(),
            batch: Vec::new(),
            at: 0,
            places: Vec::new(),
            held: Reentrancy::default(),
            began: false,
            ended: false,
        }
    }

    fn rewind(&mut self) {
        *self = Stream::new(self.raw, self.thread, std::mem::take(&mut self.blocks));
    }
}

/// Reads a trace file.
pub struct Reader {
    input: Input,
    unpacker: Unpacker,
    salvage: bool,
    header: Header,
    footer: Option<Footer>,
    standard_input: Option<StandardInput>,
    left_files: LeftFiles,
    end: u64,
    records: u64,
    /// Records taken apart so far, by all readings.
    decoded: u64,
    warnings: Vec<Warning>,
    /// How many of the warnings are known from opening.
    warned_at_opening: usize,
    resolver: Resolver,
    /// Sorted by thread, so that an index orders as its thread does.
    streams: Vec<Stream>,
    /// Least key of each thread that waits for its turn.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    current: Option<u32>,
    /// The current thread runs while its records are not behind this.
    limit: (u64, u32),
    /// The second event of a record that became two.
    pending: Option<Event>,
    done: bool,
}

impl Reader {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, TraceError> {
        let name = path.as_ref().display().to_string();
        let io = |error| TraceError::Io {
            file: name.clone(),
            error,
        };
        let file = File::open(path.as_ref()).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            return Err(io(std::io::Error::other("a trace is read from a regular file")));
        }
        let input = Input::file(file, name.clone()).map_err(io)?;
        Reader::from_input(input, options)
    }

    /// Reads a trace that is in memory; `name` stands for the file in messages.
    pub fn from_bytes(bytes: Vec<u8>, name: &str, options: ReadOptions) -> Result<Self, TraceError> {
        Reader::from_input(Input::memory(bytes, name.to_string()), options)
    }

    fn from_input(mut input: Input, options: ReadOptions) -> Result<Self, TraceError> {
        let mut unpacker = Unpacker::new().map_err(|error| TraceError::Io {
            file: input.name.clone(),
            error,
        })?;
        let index = index::read(&mut input, &mut unpacker, options.salvage)?;
        let Index {
            header,
            footer,
            standard_input,
            left_files,
            end,
            names,
            objects,
            threads,
            records,
            warnings,
        } = index;
        let mut resolver = Resolver::new(names, objects);
        let mut raw_threads: Vec<_> = threads.into_iter().collect();
        raw_threads.sort_unstable_by_key(|(raw, _)| *raw);
        let mut streams: Vec<Stream> = raw_threads
            .into_iter()
            .map(|(raw, blocks)| Stream::new(ThreadId(raw), resolver.thread(raw.into()), blocks))
            .collect();
        streams.sort_by_key(|stream| stream.thread);
        let mut reader = Reader {
            input,
            unpacker,
            salvage: options.salvage,
            header,
            footer,
            standard_input,
            left_files,
            end,
            records,
            decoded: 0,
            warned_at_opening: warnings.len(),
            warnings,
            resolver,
            streams,
            waiting: BinaryHeap::new(),
            current: None,
            limit: (0, 0),
            pending: None,
            done: false,
        };
        reader.rewind();
        Ok(reader)
    }

    /// Starts over: the next event is the first one. Locations, locks and the like keep their numbers, since the same events
    /// name them in the same order again.
    pub fn rewind(&mut self) {
        self.streams.iter_mut().for_each(Stream::rewind);
        let streams = self.streams.iter().enumerate();
        self.waiting = streams
            .filter_map(|(index, stream)| Some(Reverse((stream.blocks.first()?.first_key, index as u32))))
            .collect();
        self.current = None;
        self.limit = (0, 0);
        self.pending = None;
        self.done = false;
        self.warnings.truncate(self.warned_at_opening);
        self.resolver.statistics = Statistics::default();
    }

    /// How the recorded program was started.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How the recording ended; none if it was cut short.
    pub fn footer(&self) -> Option<&Footer> {
        self.footer.as_ref()
    }

    /// The tables, of a trace that is not read on.
    pub fn into_names(self) -> Names {
        self.resolver.names
    }

    /// What the program was given on its standard input; none if that is not known.
    pub fn standard_input(&self) -> Option<&StandardInput> {
        self.standard_input.as_ref()
    }

    /// What the program did to the files of its working directory, as far as that is known.
    pub fn left_files(&self) -> &LeftFiles {
        &self.left_files
    }

    /// Where the last whole block ends.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// What is worth saying. Complete once the last event has been read.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Records in the file: an upper bound of the events, known before the first is read.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Records that were taken apart so far, by this reading and those before it: what reading has cost.
    pub fn decoded(&self) -> u64 {
        self.decoded
    }

    /// The size of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.input.len()
    }

    /// Counts of what was read so far.
    pub fn statistics(&self) -> Statistics {
        self.resolver.statistics
    }

    /// The class of an object, if the trace says it: locks and other objects of synchronisation.
    pub fn object_class(&self, object: ObjectId) -> Option<&str> {
        self.resolver.objects.class_name(object)
    }

    /// Turns to the thread with the least record; false if there is none.
    fn next_stream(&mut self) -> bool {
        let Some(Reverse((_, index))) = self.waiting.pop() else {
            return false;
        };
        self.current = Some(index);
        self.limit = self.waiting.peek().map_or((u64::MAX, u32::MAX), |next| next.0);
        true
    }

    /// Gets the current thread's next records, or turns away from it: it has none, or none that is due.
    #[cold]
    fn refill(&mut self, index: u32) -> Result<(), TraceError> {
        let Some(stream) = self.streams.get_mut(index as usize) else {
            return Ok(());
        };
        stream.batch.clear();
        stream.at = 0;
        if stream.decoder.left() == 0 {
            let Some(block) = stream.blocks.get(stream.next_block).copied() else {
                stream.decoder.clear();
                stream.batch = Vec::new();
                stream.places = Vec::new();
                self.current = None;
                return Ok(());
            };
            let due = block.first_key.max(stream.decoder.floor());
            if (due, index) > self.limit {
                self.waiting.push(Reverse((due, index)));
                self.current = None;
                return Ok(());
            }
            stream.next_block += 1;
            if let Err(what) = self.begin_block(index, block)? {
                return self.pass_over(block, what);
            }
        }
        let Some(stream) = self.streams.get_mut(index as usize) else {
            return Ok(());
        };
        let taken = stream.decoder.take(BATCH, &mut stream.batch);
        self.decoded += stream.batch.len() as u64;
        match taken {
            Ok(()) => Ok(()),
            Err(_) => {
                let offset = stream.decoder.offset();
                self.pass_over(BlockRef { offset, first_key: 0 }, NOT_COLUMNS)
            }
        }
    }

    /// Unpacks a block; the inner error says what is wrong with it.
    fn begin_block(&mut self, index: u32, block: BlockRef) -> Result<Result<(), &'static str>, TraceError> {
        let io = |error, input: &Input| TraceError::Io {
            file: input.name.clone(),
            error,
        };
        let Some(stream) = self.streams.get_mut(index as usize) else {
            return Ok(Ok(()));
        };
        let frame = match self.input.frame_at(block.offset) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(Err("the block has changed since the file was opened")),
            Err(error) => return Err(io(error, &self.input)),
        };
        let payload = stream.decoder.payload_mut();
        match self.unpacker.payload(&mut self.input, block.offset, &frame, payload) {
            Ok(()) => {}
            Err(PayloadError::Io(error)) => return Err(io(error, &self.input)),
            Err(PayloadError::Damaged(what)) => return Ok(Err(what)),
        }
        if stream.decoder.begin(&frame, block.offset).is_err() {
            return Ok(Err(NOT_COLUMNS));
        }
        self.resolver.places(stream.decoder.entries(), &mut stream.places);
        Ok(Ok(()))
    }

    fn pass_over(&mut self, block: BlockRef, what: &'static str) -> Result<(), TraceError> {
        let offset = block.offset;
        if !self.salvage {
            return Err(TraceError::Damaged {
                file: self.input.name.clone(),
                offset,
                what,
            });
        }
        let bytes = self
            .input
            .frame_at(offset)
            .ok()
            .flatten()
            .map_or(0, |frame| u64::from(frame.stored_len));
        self.warnings.push(Warning::Skipped { offset, bytes, what });
        Ok(())
    }

    #[cold]
    fn finish(&mut self, failure: Option<TraceError>) -> Result<Option<Event>, SourceError> {
        if !self.done {
            self.done = true;
            self.current = None;
            self.waiting.clear();
            self.conclude();
        }
        failure.map_or(Ok(None), |error| Err(error.into()))
    }

    /// What can only be said at the end.
    fn conclude(&mut self) {
        let open = self.streams.iter().filter(|stream| stream.began && !stream.ended);
        let statistics = self.resolver.statistics;
        let last = self.last_warnings(open, statistics.unmatched_releases, statistics.unmatched_waits);
        self.warnings.extend(last);
    }

    /// What is said of a whole trace: of threads whose end it lacks, and of so many releases and waits.
    fn last_warnings<'s>(&self, open: impl Iterator<Item = &'s Stream>, releases: u64, waits: u64) -> Vec<Warning> {
        let names = &self.resolver.names;
        let threads: Vec<String> = open
            .filter_map(|stream| names.threads.get(stream.thread.index()))
            // Daemons may go on until the JVM ends.
            .filter(|thread| !thread.daemon)
            .map(|thread| thread.name.clone())
            .collect();
        let mut warnings = Vec::new();
        if !threads.is_empty() {
            warnings.push(Warning::NotEnded { threads });
        }
        if releases > 0 {
            warnings.push(Warning::UnmatchedReleases { count: releases });
        }
        if waits > 0 {
            warnings.push(Warning::UnmatchedWaits { count: waits });
        }
        warnings
    }

    /// What the trace comes to, from its footer alone; none if the recorder did not count, or if not all of the file can be read,
    /// so that its events must be read for it.
    pub fn figures(&self) -> Option<Figures> {
        let counted = self.footer.as_ref()?.counted.as_ref()?;
        if self.warned_at_opening > 0 {
            return None;
        }
        let known: FxHashMap<ThreadId, ThreadCount> = counted.threads.iter().copied().collect();
        let is_open = |stream: &&Stream| {
            let count = known.get(&stream.raw);
            count.is_some_and(|count| count.begins > 0 && count.ends == 0)
        };
        let open = self.streams.iter().filter(is_open);
        Some(Figures {
            events: counted.events(),
            threads: counted.threads.iter().filter(|(_, count)| count.events > 0).count(),
            warnings: self.last_warnings(open, counted.unmatched_releases, counted.unmatched_waits),
        })
    }
}

const NOT_COLUMNS: &str = "the block's records cannot be understood";

impl Source for Reader {
    // Each event is made where it is returned: handed from function to function it would be copied each time, which
    // costs more than finding it.
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        if self.pending.is_some() {
            self.resolver.statistics.events += 1;
            return Ok(self.pending.take());
        }
        loop {
            let Some(index) = self.current else {
                if self.next_stream() {
                    continue;
                }
                return self.finish(None);
            };
            let Some(stream) = self.streams.get_mut(index as usize) else {
                return self.finish(None);
            };
            let Some(record) = stream.batch.get(stream.at) else {
                if let Err(error) = self.refill(index) {
                    return self.finish(Some(error));
                }
                continue;
            };
            if (record.key, index) > self.limit {
                self.waiting.push(Reverse((record.key, index)));
                self.current = None;
                continue;
            }
            stream.at += 1;
            let Some(place) = stream.places.get_mut(usize::from(record.code)) else {
                continue;
            };
            if place.is_clock() {
                continue;
            }
            let (thread, position, site) = (stream.thread, record.position, place.site());
            if let Some((access, location)) = self.resolver.access(record, place) {
                self.resolver.statistics.events += 1;
                macro_rules! give {
                    ($op:ident, $value:expr) => {
                        Ok(Some(Event {
                            thread,
                            position,
                            site,
                            op: Op::$op {
                                location,
                                value: $value,
                            },
                        }))
                    };
                }
                return match (access, record.tag) {
                    (Access::Read, ValueTag::Exact) => give!(Read, Value::Exact(record.b as i64)),
                    (Access::Read, ValueTag::Digest) => give!(Read, Value::Digest(record.b as u32)),
                    (Access::Read, ValueTag::None) => give!(Read, Value::Unknown),
                    (Access::Write, ValueTag::Exact) => give!(Write, Value::Exact(record.b as i64)),
                    (Access::Write, ValueTag::Digest) => give!(Write, Value::Digest(record.b as u32)),
                    (Access::Write, ValueTag::None) => give!(Write, Value::Unknown),
                    (Access::Update, ValueTag::Exact) => give!(Update, Value::Exact(record.b as i64)),
                    (Access::Update, ValueTag::Digest) => give!(Update, Value::Digest(record.b as u32)),
                    (Access::Update, ValueTag::None) => give!(Update, Value::Unknown),
                };
            }
            let op = match self.resolver.resolve(record, place, &mut stream.held) {
                Resolved::Nothing => continue,
                Resolved::One(op) => op,
                Resolved::Two(first, second) => {
                    self.pending = Some(Event {
                        thread,
                        position,
                        site,
                        op: second,
                    });
                    first
                }
            };
            stream.began |= op == Op::Begin;
            stream.ended |= matches!(op, Op::End { .. });
            self.resolver.statistics.events += 1;
            return Ok(Some(Event {
                thread,
                position,
                site,
                op,
            }));
        }
    }

    fn names(&self) -> &Names {
        &self.resolver.names
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        self.rewind();
        Some(Box::new(Again(self)))
    }
}

/// A reading of a file before another one by the same reader, so that the file is opened and its tables are read once.
struct Again<'r>(&'r mut Reader);

impl Source for Again<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        self.0.next_event()
    }

    fn names(&self) -> &Names {
        self.0.names()
    }
}

impl Drop for Again<'_> {
    fn drop(&mut self) {
        self.0.rewind();
    }
}
