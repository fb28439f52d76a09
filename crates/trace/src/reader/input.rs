//! Where the bytes come from: a file read piece by piece, or memory.
//!
//! Files are read, not mapped: blocks are large enough that copying them costs little, and a file that shrinks while
//! it is read gives an error instead of killing the process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::block::{BlockFrame, FRAME_LEN, MARKER};

pub(crate) struct Input {
    bytes: Bytes,
    length: u64,
    /// For messages.
    pub name: String,
}

enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

impl Input {
    pub fn file(file: File, name: String) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Input {
            bytes: Bytes::File(file),
            length,
            name,
        })
    }

    pub fn memory(bytes: Vec<u8>, name: String) -> Self {
        Input {
            length: bytes.len() as u64,
            bytes: Bytes::Memory(bytes),
            name,
        }
    }

    pub fn len(&self) -> u64 {
        self.length
    }

    /// Fills `out` from `offset` on.
    pub fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::File(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.read_exact(out)
            }
            Bytes::Memory(bytes) => {
                let source = usize::try_from(offset)
                    .ok()
                    .and_then(|start| bytes.get(start..start.checked_add(out.len())?));
                out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }

    /// The frame at `offset`, if there is a sound one whose payload lies within the input.
    pub fn frame_at(&mut self, offset: u64) -> io::Result<Option<BlockFrame>> {
        let mut bytes = [0; FRAME_LEN];
        self.read_at(offset, &mut bytes)?;
        Ok(BlockFrame::parse(&bytes))
    }

    /// The first offset from `from` on at which a whole block with a sound frame begins.
    pub fn find_block(&mut self, from: u64) -> io::Result<Option<u64>> {
        const STEP: usize = 1 << 20;
        let mut window = Vec::new();
        let mut start = from;
        while start + (FRAME_LEN as u64) <= self.length {
            // Windows overlap by a frame, so that none is missed between two.
            let size = (self.length - start).min((STEP + FRAME_LEN) as u64) as usize;
            window.resize(size, 0);
            self.read_at(start, &mut window)?;
            for at in 0..=size - FRAME_LEN {
                if window[at..at + 4] != MARKER {
                    continue;
                }
                let found = window[at..at + FRAME_LEN].try_into().ok().and_then(BlockFrame::parse);
                if found
                    .is_some_and(|frame| start + (at + FRAME_LEN) as u64 + u64::from(frame.stored_len) <= self.length)
                {
                    return Ok(Some(start + at as u64));
                }
            }
            start += (size - FRAME_LEN + 1) as u64;
        }
        Ok(None)
    }
}

/// Unpacks payloads, reusing its memory.
pub(crate) struct Unpacker {
    zstd: zstd::bulk::Decompressor<'static>,
    stored: Vec<u8>,
}

/// Why a payload could not be unpacked.
pub(crate) enum PayloadError {
    Io(io::Error),
    Damaged(&'static str),
}

impl Unpacker {
    pub fn new() -> io::Result<Self> {
        Ok(Unpacker {
            zstd: zstd::bulk::Decompressor::new()?,
            stored: Vec::new(),
        })
    }

    /// Reads the payload of the block at `offset` into `out`. Both sizes are bounded by what a frame may say.
    pub fn payload(
        &mut self,
        input: &mut Input,
        offset: u64,
        frame: &BlockFrame,
        out: &mut Vec<u8>,
    ) -> Result<(), PayloadError> {
        self.stored.resize(frame.stored_len as usize, 0);
        input
            .read_at(offset + FRAME_LEN as u64, &mut self.stored)
            .map_err(PayloadError::Io)?;
        if crc32fast::hash(&self.stored) != frame.checksum {
            return Err(PayloadError::Damaged("the checksum of the block does not fit"));
        }
        if !frame.compressed {
            out.clear();
            out.extend_from_slice(&self.stored);
            return Ok(());
        }
        out.resize(frame.raw_len as usize, 0);
        match self.zstd.decompress_to_buffer(&self.stored, &mut out[..]) {
            Ok(length) if length == frame.raw_len as usize => Ok(()),
            _ => Err(PayloadError::Damaged("the block does not unpack to the size it states")),
        }
    }
}
