//! What a recorder hands to the [writer](crate::writer): fixed records of 24 bytes, in the order in which one thread
//! made them.
//!
//! A record is three words. `head` packs kind, site and position; `a` and `b` mean what [`RawKind`] says. The recorder
//! keeps one global counter. Synchronisation takes a number from it; plain accesses only look at it, and a [`Mark`]
//! says when what they saw has changed. An access under mark `m` happened after the event numbered `m - 1` was stamped
//! and is merged before the event numbered `m`.
//!
//! [`Mark`]: RawKind::Mark

/// One record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct RawRecord {
    /// `kind | site << 6 | position << 32`
    pub head: u64,
    /// See [`RawKind`].
    pub a: u64,
    /// See [`RawKind`].
    pub b: u64,
}

/// Where the site stands in `head`.
pub const SITE_SHIFT: u32 = 6;
/// Where the position stands in `head`.
pub const POSITION_SHIFT: u32 = 32;
/// Bits of the site in `head`.
pub const SITE_BITS: u32 = 26;

/// Objects whose class carries Ravel's own field have ids below this; objects numbered through a table (arrays, locks
/// and modelled objects of the JDK) have `TABLE_OBJECT + n`, `n < 2^32`.
pub const TABLE_OBJECT: u64 = 1 << 46;

/// In sends and receives: `ORDER_OBJECT + n`, `n < 2^33`, stands for what a class that is left out of the recording synchronises on.
pub const ORDER_OBJECT: u64 = TABLE_OBJECT + (1 << 40);

/// In `b` of references while a forced run goes on: `TOLD + n` stands for the n-th value that the agent has in words. No digest of a
/// reference has these bits, and no trace has them: the writer puts the digest in their place.
pub const TOLD: u64 = 0x7A3F << 48;

/// In `a` of state records: the model's field above, the object below.
pub const STATE_FIELD_SHIFT: u32 = 48;

/// What a record says. "obj" is an object id below `2^47`, "seq" a number taken from the global counter, "bits" the
/// value: integral values sign-extended, float and double as raw bits, references as identity hash, null as 0. The type
/// of the value follows from the field's or the array's descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RawKind {
    /// a = the global counter as the following plain accesses saw it.
    Mark = 0,
    /// a = seq of the very next record, which is a volatile or modelled access.
    Stamp = 1,
    /// a = obj (ignored for static fields), b = bits; the field is the site's.
    Read = 2,
    /// As `Read`.
    Write = 3,
    /// As `Read`.
    Update = 4,
    /// a = n << 32 | index, where `TABLE_OBJECT + n` is the array, b = bits; type from the site's descriptor.
    ReadElement = 5,
    /// As `ReadElement`.
    WriteElement = 6,
    /// Modelled state: a = field << 48 | obj, b = bits of the value (integral), or 0.
    ReadState = 7,
    /// As `ReadState`.
    WriteState = 8,
    /// As `ReadState`.
    UpdateState = 9,
    /// Modelled state of one key: a = field << 48 | obj, b = key (32 bits).
    ReadEntry = 10,
    /// As `ReadEntry`.
    WriteEntry = 11,
    /// As `ReadEntry`.
    UpdateEntry = 12,
    /// a = obj, b = seq. Not yet resolved for re-entrancy: the reader drops inner acquisitions and releases.
    Acquire = 13,
    /// a = obj, b = seq.
    Release = 14,
    /// a = obj, b = seq.
    AcquireShared = 15,
    /// a = obj, b = seq.
    ReleaseShared = 16,
    /// a = obj, b = seq. Gives up all levels of the lock.
    Wait = 17,
    /// a = obj, b = seq. Takes all levels back.
    Resume = 18,
    /// As `Resume`, known not to have been notified (time-out, interruption).
    ResumeUnnotified = 19,
    /// a = obj, b = seq.
    Notify = 20,
    /// a = obj, b = seq.
    NotifyAll = 21,
    /// a = child thread, b = seq.
    Fork = 22,
    /// a = 0, b = seq.
    Begin = 23,
    /// a = 1 if an uncaught exception ended the thread, b = seq.
    End = 24,
    /// a = child thread, b = seq.
    Join = 25,
    /// a = obj, b = seq.
    Send = 26,
    /// a = obj, b = seq.
    Receive = 27,
    /// a = method, b = 0; unordered like a plain access.
    Enter = 28,
    /// a = method, b = 0; unordered like a plain access.
    Exit = 29,
    /// a = class, b = seq.
    Initialized = 30,
    /// a = obj, b = the thread that had it alone until now; information only, no event of the merged trace.
    Share = 31,
    /// a = 0, b = 0; a declared unit begins (imported traces).
    UnitBegin = 32,
    /// a = 0, b = 0; a declared unit ends (imported traces).
    UnitEnd = 33,
    /// a = 0, b = bits of what the site's method is about to return; unordered like a plain access, no point (forced runs).
    Returned = 34,
    /// a = 0, b = 0; the site is the program's call inside which the following accesses in code of the JDK lie; unordered like a
    /// plain access, no point.
    Call = 35,
    /// As `Join`, by a wait with a short limit, which the end of the thread came before.
    JoinLimited = 36,
}

impl RawRecord {
    /// Packs a record.
    #[inline]
    pub fn new(kind: RawKind, site: u32, position: u32, a: u64, b: u64) -> Self {
        debug_assert!(site < 1 << SITE_BITS);
        RawRecord {
            head: kind as u64 | u64::from(site) << SITE_SHIFT | u64::from(position) << POSITION_SHIFT,
            a,
            b,
        }
    }

    /// The kind, if the bits are one.
    #[inline]
    pub fn kind(&self) -> Option<RawKind> {
        RawKind::from_bits((self.head & ((1 << SITE_SHIFT) - 1)) as u8)
    }

    /// The site.
    #[inline]
    pub fn site(&self) -> u32 {
        (self.head >> SITE_SHIFT) as u32 & ((1 << SITE_BITS) - 1)
    }

    /// The position.
    #[inline]
    pub fn position(&self) -> u32 {
        (self.head >> POSITION_SHIFT) as u32
    }
}

impl RawKind {
    /// Whether it changes what its thread holds of a lock.
    #[inline]
    pub fn is_locking(self) -> bool {
        use RawKind::*;
        matches!(
            self,
            Acquire | Release | AcquireShared | ReleaseShared | Wait | Resume | ResumeUnnotified
        )
    }

    /// The kind with this number.
    #[inline]
    pub fn from_bits(bits: u8) -> Option<RawKind> {
        use RawKind::*;
        const ALL: [RawKind; 37] = [
            Mark,
            Stamp,
            Read,
            Write,
            Update,
            ReadElement,
            WriteElement,
            ReadState,
            WriteState,
            UpdateState,
            ReadEntry,
            WriteEntry,
            UpdateEntry,
            Acquire,
            Release,
            AcquireShared,
            ReleaseShared,
            Wait,
            Resume,
            ResumeUnnotified,
            Notify,
            NotifyAll,
            Fork,
            Begin,
            End,
            Join,
            Send,
            Receive,
            Enter,
            Exit,
            Initialized,
            Share,
            UnitBegin,
            UnitEnd,
            Returned,
            Call,
            JoinLimited,
        ];
        ALL.get(usize::from(bits)).copied()
    }
}
