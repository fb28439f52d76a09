//! The first walk over a file: from block to block, reading the tables and noting where each thread's buffers are.

use rustc_hash::FxHashMap;

use super::input::{Input, PayloadError, Unpacker};
use super::tables::{Objects, Tables};
use crate::block::{BlockFrame, BlockKind, FILE_HEADER_LEN, FRAME_LEN, MAGIC, VERSION};
use crate::columns::first_key;
use crate::error::{TraceError, Warning};
use crate::names::Names;
use crate::run_info::{Footer, Header, LeftFiles, StandardInput};

/// One buffer block of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRef {
    pub offset: u64,
    /// No record of the block has a smaller key.
    pub first_key: u64,
}

/// What the walk found.
pub(crate) struct Index {
    pub header: Header,
    pub footer: Option<Footer>,
    pub standard_input: Option<StandardInput>,
    pub left_files: LeftFiles,
    /// Where the last whole block ends.
    pub end: u64,
    pub names: Names,
    pub objects: Objects,
    pub threads: FxHashMap<u32, Vec<BlockRef>>,
    pub records: u64,
    pub warnings: Vec<Warning>,
}

struct Walk<'a> {
    input: &'a mut Input,
    unpacker: &'a mut Unpacker,
    salvage: bool,
    header: Option<Header>,
    footer: Option<Footer>,
    standard_input: Option<StandardInput>,
    left_files: LeftFiles,
    end: u64,
    tables: Tables,
    threads: FxHashMap<u32, Vec<BlockRef>>,
    records: u64,
    warnings: Vec<Warning>,
    payload: Vec<u8>,
}

pub(crate) fn read(input: &mut Input, unpacker: &mut Unpacker, salvage: bool) -> Result<Index, TraceError> {
    check_start(input)?;
    let mut walk = Walk {
        input,
        unpacker,
        salvage,
        header: None,
        footer: None,
        standard_input: None,
        left_files: LeftFiles::default(),
        end: FILE_HEADER_LEN as u64,
        tables: Tables::default(),
        threads: FxHashMap::default(),
        records: 0,
        warnings: Vec::new(),
        payload: Vec::new(),
    };
    walk.blocks()?;
    if walk.footer.is_none() {
        walk.warnings.push(Warning::Unfinished);
    }
    let (names, objects) = walk.tables.finish().map_err(|_| TraceError::Damaged {
        file: walk.input.name.clone(),
        offset: 0,
        what: "its tables use numbers far beyond their size",
    })?;
    Ok(Index {
        header: walk.header.unwrap_or_default(),
        footer: walk.footer,
        standard_input: walk.standard_input,
        left_files: walk.left_files,
        end: walk.end,
        names,
        objects,
        threads: walk.threads,
        records: walk.records,
        warnings: walk.warnings,
    })
}

fn check_start(input: &mut Input) -> Result<(), TraceError> {
    let mut start = [0; FILE_HEADER_LEN];
    let available = input.len().min(FILE_HEADER_LEN as u64) as usize;
    let name = input.name.clone();
    input
        .read_at(0, &mut start[..available])
        .map_err(|error| TraceError::Io {
            file: name.clone(),
            error,
        })?;
    let compared = available.min(MAGIC.len());
    if start[..compared] != MAGIC[..compared] {
        return Err(TraceError::Foreign { file: name });
    }
    if available < FILE_HEADER_LEN {
        return Err(TraceError::Empty { file: name });
    }
    let version = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
    match version {
        0 => Err(TraceError::Foreign { file: name }),
        1..=VERSION => Ok(()),
        _ => Err(TraceError::Newer { file: name, version }),
    }
}

impl Walk<'_> {
    fn blocks(&mut self) -> Result<(), TraceError> {
        let length = self.input.len();
        let mut offset = FILE_HEADER_LEN as u64;
        while offset < length {
            if length - offset < FRAME_LEN as u64 {
                self.torn(offset);
                return Ok(());
            }
            let frame = self.input.frame_at(offset).map_err(|error| self.io(error))?;
            let Some(frame) = frame else {
                match self.input.find_block(offset + 1).map_err(|error| self.io(error))? {
                    None => {
                        self.torn(offset);
                        return Ok(());
                    }
                    Some(next) => {
                        self.damaged(offset, next - offset, "no block begins there")?;
                        offset = next;
                        continue;
                    }
                }
            };
            let end = offset + FRAME_LEN as u64 + u64::from(frame.stored_len);
            if end > length {
                self.torn(offset);
                return Ok(());
            }
            if let Err(what) = self.block(offset, &frame, end == length)? {
                if end == length {
                    self.torn(offset);
                    return Ok(());
                }
                self.damaged(offset, end - offset, what)?;
            }
            offset = end;
            self.end = end;
        }
        Ok(())
    }

    /// Takes one block; the inner error says what is wrong with its payload.
    fn block(&mut self, offset: u64, frame: &BlockFrame, last: bool) -> Result<Result<(), &'static str>, TraceError> {
        // Payloads of buffers are checked when they are read, but for the last one, which may be torn.
        if frame.kind != BlockKind::Buffer || last {
            match self.unpacker.payload(self.input, offset, frame, &mut self.payload) {
                Ok(()) => {}
                Err(PayloadError::Io(error)) => return Err(self.io(error)),
                Err(PayloadError::Damaged(what)) => return Ok(Err(what)),
            }
        }
        match frame.kind {
            BlockKind::Header => match Header::decode(&self.payload) {
                Some(header) => self.header = Some(header),
                None => return Ok(Err("the header cannot be understood")),
            },
            BlockKind::Footer => match Footer::decode(&self.payload) {
                Some(footer) => self.footer = Some(footer),
                None => return Ok(Err("the footer cannot be understood")),
            },
            BlockKind::Input => match StandardInput::decode(&self.payload) {
                Some(input) => self.standard_input = Some(input),
                None => return Ok(Err("the standard input cannot be understood")),
            },
            BlockKind::Files => match LeftFiles::decode(&self.payload) {
                Some(files) => self.left_files = files,
                None => return Ok(Err("the list of files cannot be understood")),
            },
            BlockKind::Table => {
                if !self.tables.add(&self.payload) {
                    return Ok(Err("a table cannot be understood"));
                }
            }
            BlockKind::Buffer => {
                self.records += u64::from(frame.records);
                let block = BlockRef {
                    offset,
                    first_key: first_key(frame),
                };
                self.threads.entry(frame.thread).or_default().push(block);
            }
        }
        Ok(Ok(()))
    }

    fn io(&self, error: std::io::Error) -> TraceError {
        TraceError::Io {
            file: self.input.name.clone(),
            error,
        }
    }

    fn torn(&mut self, offset: u64) {
        self.warnings.push(Warning::TornTail {
            offset,
            bytes: self.input.len() - offset,
        });
    }

    fn damaged(&mut self, offset: u64, bytes: u64, what: &'static str) -> Result<(), TraceError> {
        if !self.salvage {
            return Err(TraceError::Damaged {
                file: self.input.name.clone(),
                offset,
                what,
            });
        }
        self.warnings.push(Warning::Skipped { offset, bytes, what });
        Ok(())
    }
}
