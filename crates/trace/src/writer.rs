//! Writes a trace file: blocks appended one by one, each complete in itself, so that a recorder that is killed leaves
//! everything up to its last block.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write as _};
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::block::{BlockKind, FILE_HEADER_LEN, Framer, Label, MAGIC, VERSION};
use crate::columns::{Encoder, ThreadState, ValueType, ValueTypes};
use crate::count::Counter;
use crate::definition::Definition;
use crate::ids::{SiteId, ThreadId};
use crate::raw::RawRecord;
use crate::reader::{ReadOptions, Reader};
use crate::run_info::{Footer, Header, LeftFiles, StandardInput};

/// Records of one block at most; longer buffers are split. Large enough to compress well, small enough that a reader
/// with many threads holds little.
const BLOCK_RECORDS: usize = 1 << 15;

/// Definitions are written once they are this many bytes, even if no buffer follows.
const TABLE_LIMIT: usize = 1 << 20;

/// Adds to a trace, finished or cut short, what its program was given on standard input: known only when the program has
/// ended. The torn tail of a trace is dropped for it.
pub fn add_input(path: impl AsRef<Path>, input: &StandardInput) -> io::Result<()> {
    add(path.as_ref(), BlockKind::Input, &input.encode())
}

/// The same for what the program did to the files of its working directory.
pub fn add_files(path: impl AsRef<Path>, files: &LeftFiles) -> io::Result<()> {
    add(path.as_ref(), BlockKind::Files, &files.encode())
}

fn add(path: &Path, kind: BlockKind, payload: &[u8]) -> io::Result<()> {
    let end = Reader::open(path, ReadOptions { salvage: true })
        .map_err(io::Error::other)?
        .end();
    let mut framer = Framer::new()?;
    let block = framer.frame(Label::plain(kind), payload)?;
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.set_len(end)?;
    file.seek(io::SeekFrom::Start(end))?;
    file.write_all(block)
}

/// Writes a trace to anything that takes bytes.
pub struct Writer<W: io::Write> {
    out: W,
    framer: Framer,
    encoder: Encoder,
    types: ValueTypes,
    threads: FxHashMap<ThreadId, ThreadState>,
    counter: Counter,
    table: Vec<u8>,
    scratch: Vec<u8>,
    bytes: u64,
    records: u64,
}

impl Writer<File> {
    /// Creates a trace file, or replaces one. Only its owner can read it: it holds the program's environment.
    pub fn create(path: impl AsRef<Path>, header: &Header) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        #[cfg(unix)]
        if file.metadata()?.is_file() {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        Writer::new(file, header)
    }
}

impl<W: io::Write> Writer<W> {
    /// Begins a trace. Blocks go to `out` in one piece each; it needs no buffer of its own.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Writer {
            out,
            framer: Framer::new()?,
            encoder: Encoder::new(),
            types: ValueTypes::default(),
            threads: FxHashMap::default(),
            counter: Counter::default(),
            table: Vec::new(),
            scratch: Vec::new(),
            bytes: 0,
            records: 0,
        };
        let mut start = [0; FILE_HEADER_LEN];
        start[..8].copy_from_slice(&MAGIC);
        start[8..12].copy_from_slice(&VERSION.to_le_bytes());
        writer.out.write_all(&start)?;
        writer.bytes = start.len() as u64;
        writer.block(Label::plain(BlockKind::Header), &header.encode())?;
        Ok(writer)
    }

    /// Gives a name to an id. Names may come in any order, before or after the records that use them, and again; the
    /// last one holds. The type of a field must be known before the records that access it, or its values are taken
    /// for integral ones. Written before the next buffer.
    pub fn define(&mut self, definition: &Definition) -> io::Result<()> {
        self.types.define(definition);
        definition.encode(&mut self.table, &mut self.scratch);
        if self.table.len() >= TABLE_LIMIT {
            self.write_table()?;
        }
        Ok(())
    }

    /// Defines the values of records in words, where the trace keeps no more than a digest of them. References come from `told`: what
    /// a recorder that tells them writes in place of the digest, and the digest, which the record then gets.
    pub fn define_values(
        &mut self,
        thread: ThreadId,
        records: &mut [RawRecord],
        told: impl Fn(u64) -> Option<(u64, String)>,
    ) -> io::Result<()> {
        for record in records {
            let text = match self.types.of(record) {
                Some(ValueType::Reference) => told(record.b).map(|(digest, text)| {
                    record.b = digest;
                    text
                }),
                _ => self.types.words(record),
            };
            if let Some(text) = text {
                self.define(&Definition::Value {
                    thread,
                    position: record.position(),
                    site: SiteId(record.site()),
                    text,
                })?;
            }
        }
        Ok(())
    }

    /// Appends records of one thread, in its order, after those it gave before.
    pub fn buffer(&mut self, thread: ThreadId, records: &[RawRecord]) -> io::Result<()> {
        self.write_table()?;
        for part in records.chunks(BLOCK_RECORDS) {
            let state = self.threads.entry(thread).or_default();
            let label = Label {
                kind: BlockKind::Buffer,
                thread: thread.0,
                records: part.len() as u32,
                clock: state.clock,
                stamped: state.stamped,
            };
            self.scratch.clear();
            self.encoder
                .encode(part, state, &self.types, &mut self.scratch)
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a record of no known kind"))?;
            let payload = std::mem::take(&mut self.scratch);
            let result = self.block(label, &payload);
            self.scratch = payload;
            result?;
            self.records += part.len() as u64;
            self.counter.count(thread, part);
        }
        Ok(())
    }

    /// Hands everything given so far to `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_table()?;
        self.out.flush()
    }

    /// Ends the trace. The footer gets what the events come to.
    pub fn finish(mut self, footer: &Footer) -> io::Result<W> {
        self.write_table()?;
        let footer = Footer {
            counted: Some(self.counter.finish()),
            ..footer.clone()
        };
        self.block(Label::plain(BlockKind::Footer), &footer.encode())?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Bytes handed to `out` so far.
    pub fn bytes_written(&self) -> u64 {
        self.bytes
    }

    /// Records written so far.
    pub fn records_written(&self) -> u64 {
        self.records
    }

    fn write_table(&mut self) -> io::Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        let table = std::mem::take(&mut self.table);
        let result = self.block(Label::plain(BlockKind::Table), &table);
        self.table = table;
        self.table.clear();
        result
    }

    fn block(&mut self, label: Label, payload: &[u8]) -> io::Result<()> {
        let block = self.framer.frame(label, payload)?;
        self.out.write_all(block)?;
        self.bytes += block.len() as u64;
        Ok(())
    }
}
