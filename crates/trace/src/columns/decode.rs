//! Columns to records, some at a time, so that a thread waiting for its turn in the merge holds little.

use super::{CLOCKS, COLUMNS, DIGESTS, First, INDICES, NUMBERS, POSITIONS, Second, VALUES, ValueType, shape};
use crate::block::BlockFrame;
use crate::raw::{RawKind, SITE_BITS};
use crate::varint::{get, unfold};

/// What a record's `b` is after reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum ValueTag {
    /// No value, or a number that is none.
    None,
    /// The value itself.
    Exact,
    /// A digest of the value.
    Digest,
}

/// One record, with its place in the global order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Sorts the records of all threads; see [`sequence_key`] and [`plain_key`].
    pub key: u64,
    pub a: u64,
    pub b: u64,
    pub position: u32,
    /// Which entry of the block's dictionary.
    pub code: u16,
    pub tag: ValueTag,
}

/// A dictionary entry: what all records of one kind at one site have in common.
#[derive(Clone, Debug)]
pub(crate) struct DecodedEntry {
    pub kind: RawKind,
    pub site: u32,
    first: First,
    second: Second,
    last_number: u64,
    last_index: u32,
    last_digest: u16,
    last_value: i64,
}

/// The payload is not what the format says. The block passed its checksum, so it was written so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

/// Reads one block after the other of one thread.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    payload: Vec<u8>,
    entries: Vec<DecodedEntry>,
    codes_at: usize,
    wide: bool,
    at: [usize; COLUMNS],
    end: [usize; COLUMNS],
    left: usize,
    position: u32,
    clock: u64,
    stamped: bool,
    /// Where the block is in the file, for messages.
    offset: u64,
    /// Keys never fall within a thread, whatever the file says: the merge rests on it.
    floor: u64,
}

impl Decoder {
    /// The buffer to put the next block's payload in before [`begin`](Self::begin).
    pub fn payload_mut(&mut self) -> &mut Vec<u8> {
        &mut self.payload
    }

    /// The dictionary of the current block.
    pub fn entries(&self) -> &[DecodedEntry] {
        &self.entries
    }

    /// Records of the block not yet given.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Where the current block is in the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// No further record of the thread has a smaller key.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Gives back the memory of a thread that has ended.
    pub fn clear(&mut self) {
        *self = Decoder::default();
    }

    /// Begins the block whose payload was put in.
    pub fn begin(&mut self, frame: &BlockFrame, offset: u64) -> Result<(), Malformed> {
        self.left = 0;
        self.offset = offset;
        self.floor = self.floor.max(first_key(frame));
        self.begin_inner(frame).ok_or(Malformed)
    }

    fn begin_inner(&mut self, frame: &BlockFrame) -> Option<()> {
        let bytes = &self.payload[..];
        let records = frame.records as usize;
        let mut at = 0;
        let count = usize::try_from(get(bytes, &mut at)?).ok()?;
        // No entry without a record, so the count is bounded as the records are.
        if count > records {
            return None;
        }
        let mut lengths = [0; COLUMNS];
        for length in &mut lengths {
            *length = usize::try_from(get(bytes, &mut at)?).ok()?;
        }
        self.entries.clear();
        for _ in 0..count {
            let head = u32::try_from(get(bytes, &mut at)?).ok()?;
            let hint = *bytes.get(at)?;
            at += 1;
            let kind = RawKind::from_bits((head & 63) as u8)?;
            let (first, second) = shape(kind, hint)?;
            let site = head >> 6;
            debug_assert!(site < 1 << SITE_BITS);
            self.entries.push(DecodedEntry {
                kind,
                site,
                first,
                second,
                last_number: 0,
                last_index: 0,
                last_digest: 0,
                last_value: 0,
            });
        }
        self.wide = count > 256;
        self.codes_at = at;
        at = at.checked_add(if self.wide { records * 2 } else { records })?;
        for (column, length) in lengths.into_iter().enumerate() {
            self.at[column] = at;
            at = at.checked_add(length)?;
            self.end[column] = at;
        }
        if at != bytes.len() {
            return None;
        }
        self.left = records;
        self.position = 0;
        self.clock = frame.clock;
        self.stamped = frame.stamped;
        Some(())
    }

    /// Appends up to `limit` further records to `out`.
    pub fn take(&mut self, limit: usize, out: &mut Vec<Record>) -> Result<(), Malformed> {
        let count = limit.min(self.left);
        let start = out.len();
        self.take_inner(count, out).ok_or_else(|| {
            self.left = 0;
            out.truncate(start);
            Malformed
        })
    }

    fn take_inner(&mut self, count: usize, out: &mut Vec<Record>) -> Option<()> {
        let bytes = &self.payload[..];
        let width = if self.wide { 2 } else { 1 };
        let codes = bytes.get(self.codes_at..self.codes_at + count * width)?;
        let columns: [&[u8]; COLUMNS] = {
            let mut columns = [bytes; COLUMNS];
            for (column, end) in columns.iter_mut().zip(self.end) {
                *column = bytes.get(..end)?;
            }
            columns
        };
        let mut at = self.at;
        let (mut clock, mut position, mut floor, mut stamped) = (self.clock, self.position, self.floor, self.stamped);
        out.reserve(count);
        for step in 0..count {
            let code = if self.wide {
                u16::from_le_bytes([codes[2 * step], codes[2 * step + 1]])
            } else {
                u16::from(codes[step])
            };
            let entry = self.entries.get_mut(usize::from(code))?;
            position = position.wrapping_add(get(columns[POSITIONS], &mut at[POSITIONS])? as u32);
            // Plain records come after everything the counter had counted when they were made, and before the rest.
            let mut key = if stamped {
                sequence_key(clock.wrapping_sub(1))
            } else {
                plain_key(clock)
            };
            stamped = false;
            let a = match entry.first {
                First::None => 0,
                First::Number => {
                    let delta = unfold(get(columns[NUMBERS], &mut at[NUMBERS])?);
                    entry.last_number = entry.last_number.wrapping_add(delta as u64);
                    entry.last_number
                }
                First::Element => {
                    let delta = unfold(get(columns[NUMBERS], &mut at[NUMBERS])?);
                    entry.last_number = entry.last_number.wrapping_add(delta as u64);
                    let delta = unfold(get(columns[INDICES], &mut at[INDICES])?);
                    entry.last_index = entry.last_index.wrapping_add(delta as u32);
                    entry.last_number << 32 | u64::from(entry.last_index)
                }
                First::Mark => {
                    clock = clock.wrapping_add(unfold(get(columns[CLOCKS], &mut at[CLOCKS])?) as u64);
                    clock
                }
                First::Stamp => {
                    let sequence = clock.wrapping_add(unfold(get(columns[CLOCKS], &mut at[CLOCKS])?) as u64);
                    clock = sequence.wrapping_add(1);
                    stamped = true;
                    sequence
                }
            };
            let (b, tag) = match entry.second {
                Second::None => (0, ValueTag::None),
                Second::Sequence => {
                    let sequence = clock.wrapping_add(unfold(get(columns[CLOCKS], &mut at[CLOCKS])?) as u64);
                    clock = sequence.wrapping_add(1);
                    key = sequence_key(sequence);
                    (sequence, ValueTag::None)
                }
                Second::Number => {
                    let delta = unfold(get(columns[VALUES], &mut at[VALUES])?);
                    entry.last_value = entry.last_value.wrapping_add(delta);
                    (u64::from(entry.last_value as u32), ValueTag::None)
                }
                Second::Value(ValueType::Integral) => {
                    let token = get(columns[VALUES], &mut at[VALUES])?;
                    if token & 1 == 0 {
                        entry.last_value = entry.last_value.wrapping_add(unfold(token >> 1));
                        (entry.last_value as u64, ValueTag::Exact)
                    } else {
                        (u64::from((token >> 1) as u16), ValueTag::Digest)
                    }
                }
                Second::Value(value_type) => {
                    let start = at[DIGESTS];
                    let pair = columns[DIGESTS].get(start..start + 2)?;
                    at[DIGESTS] = start + 2;
                    entry.last_digest ^= u16::from_le_bytes([pair[0], pair[1]]);
                    let null = value_type == ValueType::Reference && entry.last_digest == 0;
                    (
                        u64::from(entry.last_digest),
                        if null { ValueTag::Exact } else { ValueTag::Digest },
                    )
                }
            };
            floor = floor.max(key);
            out.push(Record {
                key: floor,
                a,
                b,
                position,
                code,
                tag,
            });
        }
        self.at = at;
        self.codes_at += count * width;
        self.left -= count;
        (self.clock, self.position, self.floor, self.stamped) = (clock, position, floor, stamped);
        Some(())
    }
}

/// The least key that records of this block can have.
pub(crate) fn first_key(frame: &BlockFrame) -> u64 {
    if frame.stamped {
        sequence_key(frame.clock.wrapping_sub(1))
    } else {
        plain_key(frame.clock)
    }
}

/// The key of the event with this sequence number.
#[inline]
pub(crate) fn sequence_key(sequence: u64) -> u64 {
    sequence.saturating_mul(2).saturating_add(1)
}

/// The key of an event that saw the counter at `clock`: after the event numbered `clock - 1`, before that numbered
/// `clock`.
#[inline]
pub(crate) fn plain_key(clock: u64) -> u64 {
    clock.saturating_mul(2)
}
