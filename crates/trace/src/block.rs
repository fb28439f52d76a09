//! The frame of a block: what every block of a trace file begins with, and the checks that tell a torn or damaged one.
//!
//! Separate from what is inside the blocks, so that damage can be found, and skipped, without understanding them.

use std::io;

/// The first bytes of every trace file: not text, and damaged by a transfer that changes line ends.
pub(crate) const MAGIC: [u8; 8] = *b"\x89RAVEL\r\n";

/// The version this code writes; it reads this and all earlier ones.
pub const VERSION: u32 = 3;

/// Magic, version, and four bytes kept for later.
pub(crate) const FILE_HEADER_LEN: usize = 16;

/// What every block begins with: lets a reader find the next block behind damage.
pub(crate) const MARKER: [u8; 4] = *b"RvBk";

/// Bytes of a block's frame, before its payload.
pub(crate) const FRAME_LEN: usize = 40;

/// The most bytes a payload may have, before or after compression. A reader allocates no more than this for a block,
/// whatever the frame says.
pub(crate) const MAX_PAYLOAD: usize = 16 << 20;

/// The most records of one buffer block.
pub(crate) const MAX_RECORDS: usize = 1 << 16;

/// Payloads shorter than this are stored as they are.
const MIN_COMPRESSED: usize = 128;

/// Speed before size: the recorder is behind most of the time.
const LEVEL: i32 = -4;

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum BlockKind {
    /// About the run; the first block of a file.
    Header = 1,
    /// Definitions.
    Table = 2,
    /// Records of one thread.
    Buffer = 3,
    /// How the recording ended; the last block that a recorder writes.
    Footer = 4,
    /// What the program found on its standard input; added when the program has ended.
    Input = 5,
    /// What the program did to the files of its working directory; added when the program has ended.
    Files = 6,
}

impl BlockKind {
    fn from_bits(bits: u8) -> Option<Self> {
        [
            BlockKind::Header,
            BlockKind::Table,
            BlockKind::Buffer,
            BlockKind::Footer,
            BlockKind::Input,
            BlockKind::Files,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == bits)
    }
}

/// The frame of one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockFrame {
    pub kind: BlockKind,
    pub compressed: bool,
    /// Buffer blocks: the first record's sequence number was given by a `Stamp` at the end of the block before.
    pub stamped: bool,
    /// Bytes in the file.
    pub stored_len: u32,
    /// Bytes after decompression.
    pub raw_len: u32,
    /// Buffer blocks: whose.
    pub thread: u32,
    /// Buffer blocks: how many.
    pub records: u32,
    /// Buffer blocks: the thread's clock before the first record.
    pub clock: u64,
    /// Of the payload as stored.
    pub checksum: u32,
}

const COMPRESSED: u8 = 1;
const STAMPED: u8 = 2;

impl BlockFrame {
    fn to_bytes(self) -> [u8; FRAME_LEN] {
        let mut bytes = [0; FRAME_LEN];
        bytes[0..4].copy_from_slice(&MARKER);
        bytes[4..8].copy_from_slice(&self.stored_len.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.raw_len.to_le_bytes());
        bytes[12] = self.kind as u8;
        bytes[13] = if self.compressed { COMPRESSED } else { 0 } | if self.stamped { STAMPED } else { 0 };
        bytes[16..20].copy_from_slice(&self.thread.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.records.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.clock.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.checksum.to_le_bytes());
        let own = crc32fast::hash(&bytes[..36]);
        bytes[36..40].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// The frame in these bytes; none if they are not one that this version writes.
    pub fn parse(bytes: &[u8; FRAME_LEN]) -> Option<BlockFrame> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if bytes[..4] != MARKER || crc32fast::hash(&bytes[..36]) != word(36) {
            return None;
        }
        let frame = BlockFrame {
            kind: BlockKind::from_bits(bytes[12])?,
            compressed: bytes[13] & COMPRESSED != 0,
            stamped: bytes[13] & STAMPED != 0,
            stored_len: word(4),
            raw_len: word(8),
            thread: word(16),
            records: word(20),
            clock: u64::from(word(24)) | u64::from(word(28)) << 32,
            checksum: word(32),
        };
        let plausible = frame.stored_len as usize <= MAX_PAYLOAD
            && frame.raw_len as usize <= MAX_PAYLOAD
            && frame.records as usize <= MAX_RECORDS
            && (frame.compressed || frame.stored_len == frame.raw_len);
        plausible.then_some(frame)
    }
}

/// What of a frame the maker of a block chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub kind: BlockKind,
    pub thread: u32,
    pub records: u32,
    pub clock: u64,
    pub stamped: bool,
}

impl Label {
    /// A block that belongs to no thread.
    pub fn plain(kind: BlockKind) -> Self {
        Label {
            kind,
            thread: 0,
            records: 0,
            clock: 0,
            stamped: false,
        }
    }
}

/// Makes blocks: compresses, frames and checks payloads, reusing its memory.
pub(crate) struct Framer {
    zstd: zstd::bulk::Compressor<'static>,
    block: Vec<u8>,
}

impl Framer {
    pub fn new() -> io::Result<Self> {
        Ok(Framer {
            zstd: zstd::bulk::Compressor::new(LEVEL)?,
            block: Vec::new(),
        })
    }

    /// The whole block, ready to be appended in one piece: a recorder that is killed then tears at most one block.
    pub fn frame(&mut self, label: Label, payload: &[u8]) -> io::Result<&[u8]> {
        if payload.len() > MAX_PAYLOAD || label.records as usize > MAX_RECORDS {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a block of the trace would be too large",
            ));
        }
        let mut compressed = false;
        self.block.clear();
        if payload.len() >= MIN_COMPRESSED {
            self.block
                .resize(FRAME_LEN + zstd::zstd_safe::compress_bound(payload.len()), 0);
            let length = self.zstd.compress_to_buffer(payload, &mut self.block[FRAME_LEN..])?;
            compressed = length < payload.len();
            self.block.truncate(FRAME_LEN + length);
        }
        if !compressed {
            self.block.clear();
            self.block.resize(FRAME_LEN, 0);
            self.block.extend_from_slice(payload);
        }
        let stored = &self.block[FRAME_LEN..];
        let frame = BlockFrame {
            kind: label.kind,
            compressed,
            stamped: label.stamped,
            stored_len: stored.len() as u32,
            raw_len: payload.len() as u32,
            thread: label.thread,
            records: label.records,
            clock: label.clock,
            checksum: crc32fast::hash(stored),
        };
        self.block[..FRAME_LEN].copy_from_slice(&frame.to_bytes());
        Ok(&self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_survives_and_any_flipped_bit_is_noticed() {
        let label = Label {
            kind: BlockKind::Buffer,
            thread: 7,
            records: 9,
            clock: u64::MAX - 3,
            stamped: true,
        };
        let mut framer = Framer::new().expect("a compressor");
        let block = framer.frame(label, &[5; 1000]).expect("a block").to_vec();
        let bytes: [u8; FRAME_LEN] = block[..FRAME_LEN].try_into().expect("long enough");
        let frame = BlockFrame::parse(&bytes).expect("a frame");
        assert_eq!((frame.kind, frame.thread, frame.records), (BlockKind::Buffer, 7, 9));
        assert_eq!(
            (frame.clock, frame.stamped, frame.compressed),
            (u64::MAX - 3, true, true)
        );
        assert_eq!(frame.raw_len, 1000);
        assert_eq!(frame.stored_len as usize, block.len() - FRAME_LEN);
        for bit in 0..FRAME_LEN * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BlockFrame::parse(&damaged), None, "bit {bit}");
        }
    }
}
