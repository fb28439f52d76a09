//! The inside of a buffer block: the records of one thread, taken apart into columns.
//!
//! Each column holds one sort of number, stored as the difference from the last one *at the same place in code*, which
//! is small and repeats; the general compressor does the rest. Writing and reading mirror each other:
//! [`encode`] and [`decode`].

mod decode;
mod encode;

pub(crate) use decode::{DecodedEntry, Decoder, Record, ValueTag, first_key};
pub(crate) use encode::{Encoder, ThreadState, ValueTypes};

use crate::raw::RawKind;

/// How the value of an access is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum ValueType {
    /// Boolean to long: as it was if small, else a digest.
    Integral = 0,
    /// An identity: a digest, 0 for null.
    Reference = 1,
    /// Float and double: a digest.
    Floating = 2,
    /// Not recorded: variables of imported traces.
    Absent = 3,
}

/// Integral values from `-EXACT_LIMIT` to `EXACT_LIMIT - 1` are kept as they are, others as a digest. Whether a value
/// is kept depends on the value alone, so that equal values stay equal. The limit keeps what people count and look
/// at, and keeps hash codes and random numbers from costing four bytes each.
pub(crate) const EXACT_LIMIT: i64 = 1 << 24;

/// Sixteen bits that tell most values apart.
#[inline]
pub(crate) fn digest(bits: u64) -> u16 {
    (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

/// The digest of a reference, 0 for null alone.
#[inline]
pub(crate) fn reference_digest(bits: u64) -> u16 {
    if bits == 0 { 0 } else { digest(bits).max(1) }
}

/// What a record's `a` is, which decides in which column it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum First {
    /// Nothing.
    None,
    /// A number: object, method, class, thread.
    Number,
    /// Array and index.
    Element,
    /// A sequence number; the following plain records saw the counter there.
    Mark,
    /// A sequence number; that of the next record.
    Stamp,
}

/// What a record's `b` is, which decides in which column it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Second {
    /// Nothing.
    None,
    /// A value.
    Value(ValueType),
    /// A number kept whole: a key, a thread.
    Number,
    /// The record's sequence number.
    Sequence,
}

/// In a dictionary entry: the record has no object (a static field, a variable of an imported trace).
const NO_OBJECT: u8 = 0x80;

/// The columns that records of this kind fill; `hint` is the second byte of the dictionary entry. None if the hint is
/// not one.
pub(crate) fn shape(kind: RawKind, hint: u8) -> Option<(First, Second)> {
    use RawKind::*;
    let value = match hint & !NO_OBJECT {
        0 => Second::Value(ValueType::Integral),
        1 => Second::Value(ValueType::Reference),
        2 => Second::Value(ValueType::Floating),
        3 => Second::None,
        _ => return None,
    };
    Some(match kind {
        Mark => (First::Mark, Second::None),
        Stamp => (First::Stamp, Second::None),
        Read | Write | Update => {
            let first = if hint & NO_OBJECT == 0 {
                First::Number
            } else {
                First::None
            };
            (first, value)
        }
        ReadElement | WriteElement => (First::Element, value),
        ReadState | WriteState | UpdateState => (First::Number, value),
        ReadEntry | WriteEntry | UpdateEntry | Share => (First::Number, Second::Number),
        Acquire | Release | AcquireShared | ReleaseShared | Wait | Resume | ResumeUnnotified | Notify | NotifyAll
        | Fork | End | Join | JoinLimited | Send | Receive | Initialized => (First::Number, Second::Sequence),
        Begin => (First::None, Second::Sequence),
        Enter | Exit => (First::Number, Second::None),
        UnitBegin | UnitEnd | Call => (First::None, Second::None),
        Returned => (First::None, value),
    })
}

/// The columns of variable length, in the order in which they stand in the payload.
pub(crate) const COLUMNS: usize = 6;
const POSITIONS: usize = 0;
const NUMBERS: usize = 1;
const INDICES: usize = 2;
const VALUES: usize = 3;
const DIGESTS: usize = 4;
const CLOCKS: usize = 5;
