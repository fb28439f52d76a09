//! The numbers that the Java helper classes share with the agent: offsets, sizes, record kinds, effects.
//!
//! `RavelLayout.java` is generated from [`LAYOUT`], and `javac` copies its constants into the compiled classes, which are checked
//! in. So two things can be stale: the Java file, which a test compares with the text made here, and the classes, whose digest of
//! the layout this module compares with its own when it is compiled.

use std::mem::offset_of;

use ravel_trace::raw::{self, RawKind, RawRecord};
use ravel_trace::spawn;

use crate::attach;
use crate::chance::{self, Form};
use crate::directed::ended;
use crate::instrument::{accesses, library};
use crate::models::{self, Effect};
use crate::natives::{test_note, thread_sort};
use crate::recorder::{self, MAX_SITES, MAX_THREADS, address, flag, told};
use crate::registry;
use crate::search::{LATE, answer, kind};
use crate::thread_block::{self, MethodFrame, ModelFrame, ThreadBlock};

/// A Java class of constants.
pub struct Group {
    /// The class.
    pub name: &'static str,
    /// What its constants are.
    #[cfg(test)]
    pub about: &'static str,
    /// The constants' Java type.
    pub java_type: &'static str,
    /// Names and values.
    pub constants: &'static [(&'static str, i64)],
}

macro_rules! layout {
    ($($(#[doc = $about:literal])+ $java_type:ident $group:ident { $($name:ident = $value:expr;)+ })+) => {
        /// All constants.
        pub const LAYOUT: &[Group] = &[$(Group {
            name: stringify!($group),
            #[cfg(test)]
            about: concat!($($about),+),
            java_type: stringify!($java_type),
            constants: &[$((stringify!($name), $value as i64)),+],
        }),+];
    };
}

layout! {
    /// Offsets in a thread's block.
    long Block {
        CURSOR = offset_of!(ThreadBlock, cursor);
        LIMIT = offset_of!(ThreadBlock, limit);
        POSITION = offset_of!(ThreadBlock, position);
        TAG = offset_of!(ThreadBlock, tag);
        MARK = offset_of!(ThreadBlock, mark);
        TOP = offset_of!(ThreadBlock, top);
        WRITTEN = offset_of!(ThreadBlock, written);
        CALL = offset_of!(ThreadBlock, call);
        STEP = offset_of!(ThreadBlock, step);
        NEXT_ID = offset_of!(ThreadBlock, next_id);
        LAST_ID = offset_of!(ThreadBlock, last_id);
        OPAQUE = offset_of!(ThreadBlock, opaque);
        STACK_LIMIT = offset_of!(ThreadBlock, stack_limit);
        SEGMENT = offset_of!(ThreadBlock, segment);
        STALE = offset_of!(ThreadBlock, stale);
        STAMP = offset_of!(ThreadBlock, stamp);
        WAITING = offset_of!(ThreadBlock, waiting);
        MODEL = offset_of!(ThreadBlock, model);
        NEST = offset_of!(ThreadBlock, nest);
        NOVEL = offset_of!(ThreadBlock, novel);
        BOTTOM = offset_of!(ThreadBlock, bottom);
        MODEL_BASE = offset_of!(ThreadBlock, model_base);
        GATE = offset_of!(ThreadBlock, gate);
        REPEATS = offset_of!(ThreadBlock, repeats);
        THREAD = offset_of!(ThreadBlock, thread);
        CLAIMS = offset_of!(ThreadBlock, claims);
        EPOCH = offset_of!(ThreadBlock, epoch);
        SHAKEN = offset_of!(ThreadBlock, shaken);
        SETTLED = offset_of!(ThreadBlock, settled);
        RUN_END = offset_of!(ThreadBlock, run_end);
        PASSED = offset_of!(ThreadBlock, passed);
        ASKED = offset_of!(ThreadBlock, asked);
        HELD = offset_of!(ThreadBlock, held);
        INSIDE = offset_of!(ThreadBlock, inside);
        CALLED = offset_of!(ThreadBlock, called);
        OWN_PLACE = offset_of!(ThreadBlock, own_place);
        OWN_CURSOR = offset_of!(ThreadBlock, own_cursor);
        STRETCH = offset_of!(ThreadBlock, stretch);
        SURE_OBJECTS = offset_of!(ThreadBlock, sure_objects);
        SURE_ARRAYS = offset_of!(ThreadBlock, sure_arrays);
        VAIN = offset_of!(ThreadBlock, vain);
        SURE_MANY = offset_of!(ThreadBlock, sure_of_many);
        HEARD = offset_of!(ThreadBlock, heard);
        UNSEEN = offset_of!(ThreadBlock, unseen);
        UNTOLD = offset_of!(ThreadBlock, untold);
        OLDER = offset_of!(ThreadBlock, older);
    }

    /// Offsets in a frame of the shadow stack.
    long Frame {
        METHOD = offset_of!(MethodFrame, method);
        CALL = offset_of!(MethodFrame, call);
        POSITION = offset_of!(MethodFrame, position);
        STEP = offset_of!(MethodFrame, step);
        LOCK = offset_of!(MethodFrame, lock);
        SITE = offset_of!(MethodFrame, site);
        AGAIN = offset_of!(MethodFrame, again);
        SIZE = thread_block::FRAME;
    }

    /// Offsets in a frame of the stack of modelled methods; STACK is the size of that stack.
    long ModelFrame {
        MODEL = offset_of!(ModelFrame, model);
        NEST = offset_of!(ModelFrame, nest);
        OPAQUE = offset_of!(ModelFrame, opaque);
        OBJECT = offset_of!(ModelFrame, object);
        EXTRA = offset_of!(ModelFrame, extra);
        SITE = offset_of!(ModelFrame, site);
        ALONE = offset_of!(ModelFrame, alone);
        SIZE = size_of::<ModelFrame>();
        STACK = thread_block::MODELS;
    }

    /// Records: the offsets of the words after the head, and the size; the first id of an object that has no word, and of one that only orders.
    long RawRecord {
        A = offset_of!(RawRecord, a);
        B = offset_of!(RawRecord, b);
        SIZE = thread_block::RECORD;
        TABLE_OBJECT = raw::TABLE_OBJECT;
        ORDER_OBJECT = raw::ORDER_OBJECT;
    }

    /// What sort of value is told in words.
    int Told {
        STRING = told::STRING;
        NAME = told::NAME;
        INTEGRAL = told::INTEGRAL;
        BOOLEAN = told::BOOLEAN;
        CHARACTER = told::CHARACTER;
        FLOAT = told::FLOAT;
        DOUBLE = told::DOUBLE;
        OBJECT = told::OBJECT;
    }

    /// Places in words of records: site and position in the head, the field in the word that names a modelled state.
    int Shift {
        SITE = raw::SITE_SHIFT;
        POSITION = raw::POSITION_SHIFT;
        STATE_FIELD = raw::STATE_FIELD_SHIFT;
    }

    /// Kinds of records.
    int Kind {
        MARK = RawKind::Mark;
        STAMP = RawKind::Stamp;
        READ = RawKind::Read;
        WRITE = RawKind::Write;
        READ_ELEMENT = RawKind::ReadElement;
        WRITE_ELEMENT = RawKind::WriteElement;
        READ_STATE = RawKind::ReadState;
        WRITE_STATE = RawKind::WriteState;
        UPDATE_STATE = RawKind::UpdateState;
        READ_ENTRY = RawKind::ReadEntry;
        UPDATE_ENTRY = RawKind::UpdateEntry;
        ACQUIRE = RawKind::Acquire;
        RELEASE = RawKind::Release;
        ACQUIRE_SHARED = RawKind::AcquireShared;
        RELEASE_SHARED = RawKind::ReleaseShared;
        WAIT = RawKind::Wait;
        RESUME = RawKind::Resume;
        RESUME_UNNOTIFIED = RawKind::ResumeUnnotified;
        NOTIFY = RawKind::Notify;
        NOTIFY_ALL = RawKind::NotifyAll;
        JOIN = RawKind::Join;
        SEND = RawKind::Send;
        RECEIVE = RawKind::Receive;
        ENTER = RawKind::Enter;
        EXIT = RawKind::Exit;
        INITIALIZED = RawKind::Initialized;
        SHARE = RawKind::Share;
        RETURNED = RawKind::Returned;
        CALL = RawKind::Call;
        JOIN_LIMITED = RawKind::JoinLimited;
    }

    /// Effects of modelled methods.
    int Effect {
        LOCK = Effect::Lock;
        TRY_LOCK = Effect::TryLock;
        UNLOCK = Effect::Unlock;
        LOCK_SHARED = Effect::LockShared;
        TRY_LOCK_SHARED = Effect::TryLockShared;
        UNLOCK_SHARED = Effect::UnlockShared;
        AWAIT = Effect::Await;
        SIGNAL = Effect::Signal;
        SIGNAL_ALL = Effect::SignalAll;
        SEND = Effect::Send;
        RECEIVE = Effect::Receive;
        RECEIVE_IF = Effect::ReceiveIf;
        BARRIER = Effect::Barrier;
        ROUNDS = Effect::Rounds;
        TAKE_PERMITS = Effect::TakePermits;
        TRY_PERMITS = Effect::TryPermits;
        GIVE_PERMITS = Effect::GivePermits;
        DRAIN_PERMITS = Effect::DrainPermits;
        EXCHANGE = Effect::Exchange;
        GET = Effect::Get;
        SET = Effect::Set;
        UPDATE = Effect::Update;
        COMPARE_AND_SET = Effect::CompareAndSet;
        MAP_GET = Effect::MapGet;
        MAP_PUT = Effect::MapPut;
        MAP_PUT_IF_ABSENT = Effect::MapPutIfAbsent;
        MAP_REMOVE = Effect::MapRemove;
        MAP_COMPUTE = Effect::MapCompute;
        MAP_REPLACE_IF = Effect::MapReplaceIf;
        MAP_UPDATE = Effect::MapUpdate;
        QUEUE_PUT = Effect::QueuePut;
        QUEUE_TAKE = Effect::QueueTake;
        QUEUE_LOOK = Effect::QueueLook;
        STATE_READ = Effect::StateRead;
        STATE_UPDATE = Effect::StateUpdate;
        RUN = Effect::Run;
        HIDE = Effect::Hide;
        UNLOCK_STAMP = Effect::UnlockStamp;
        TO_LOCK = Effect::ToLock;
        TO_SHARED = Effect::ToShared;
        SEND_ARGUMENT = Effect::SendArgument;
        RECEIVE_RESULT = Effect::ReceiveResult;
        MONITOR = Effect::Monitor;
        JOIN = Effect::Join;
        INVOKE = Effect::Invoke;
    }

    /// The number of a model: the masks of effect and field, where the field stands, and flags.
    int Model {
        EFFECT = models::EFFECT_MASK;
        FIELD = models::FIELD_SHIFT;
        FIELDS = models::FIELD_MASK;
        THROUGH_HANDLE = models::THROUGH_HANDLE;
        ALWAYS = models::ALWAYS;
    }

    /// The number that hooks of accesses get: the mask of the site, and where the counts of points stand.
    int Point {
        SITE = MAX_SITES - 1;
        COMING = accesses::COMING;
        MOVE = accesses::MOVE;
        LONGEST = accesses::LONGEST;
        OF_TOOL = library::OF_TOOL;
    }

    /// The word of an object: the mask of its owner, shared or not, and where its id stands.
    int Word {
        OWNER = 2 * MAX_THREADS - 1;
        ID = (2 * MAX_THREADS).trailing_zeros();
    }

    /// The tag of threads that own nothing.
    int Tag {
        LATE = recorder::TAG_OF_LATE;
    }

    /// Epochs of a thread.
    long Epoch {
        FIRST = thread_block::FIRST_EPOCH;
    }

    /// Bits of a site's byte.
    int SiteFlag {
        VOLATILE = registry::SITE_VOLATILE;
        CALLS_TOOL = registry::SITE_CALLS_TOOL;
        CALLS_SERVICE = registry::SITE_CALLS_SERVICE;
    }

    /// Bits of a site's hint in a search.
    int Hint {
        QUIET = registry::HINT_QUIET;
    }

    /// Bits of the recording's flags.
    int Flag {
        KEEP_UNSHARED = flag::KEEP_UNSHARED;
        KEEP_REPEATS = flag::KEEP_REPEATS;
        FORCING = flag::FORCING;
        WITH_NOISE = flag::WITH_NOISE;
        FOR_RACES = flag::FOR_RACES;
        SEARCHING = flag::SEARCHING;
        INSIDE_JVM = flag::INSIDE_JVM;
        FENCES = flag::FENCES;
        ATTACHED = flag::ATTACHED;
    }

    /// What a thread of a search asks for.
    int Request {
        STEP = kind::STEP;
        ACCESS = kind::ACCESS;
        MONITOR = kind::MONITOR;
        CALL = kind::CALL;
        LOOK = kind::LOOK;
        YIELD = kind::YIELD;
        SLEEP = kind::SLEEP;
        PARK = kind::PARK;
        WAIT = kind::WAIT;
        JOIN = kind::JOIN;
        UNPARK = kind::UNPARK;
        NOTIFY = kind::NOTIFY;
        NOTIFY_ALL = kind::NOTIFY_ALL;
        INTERRUPT = kind::INTERRUPT;
        EXIT = kind::EXIT;
        TRY = kind::TRY;
        LIVES = kind::LIVES;
    }

    /// Milliseconds by which a thread may be late: a wait for its end with a longer limit counts as one without.
    long Late {
        MILLIS = LATE / 1_000_000;
    }

    /// What it is told.
    int Answer {
        GO = answer::GO;
        TIMED_OUT = answer::TIMED_OUT;
        OVER = answer::OVER;
        FREE = answer::FREE;
    }

    /// The tables that Ravel.address knows.
    int Address {
        SEQUENCE = address::SEQUENCE;
        SITES = address::SITES;
        STATICS = address::STATICS;
        OWNERS = address::OWNERS;
        FLAGS = address::FLAGS;
        BLOCKS = address::BLOCKS;
        REGIONS = address::REGIONS;
        VOLATILES = address::VOLATILES;
        SAMPLES = address::SAMPLES;
        SAMPLE = address::SAMPLE;
        INITIALIZATIONS = address::INITIALIZATIONS;
        LOCKS_ASKED = address::LOCKS_ASKED;
        ENDS = address::ENDS;
        HINTS = address::HINTS;
        RELEASE = address::RELEASE;
        THREADS = address::THREADS;
        MODE = address::MODE;
    }

    /// A JVM that was running before Ravel came: how many bits of a thread's id are looked at.
    int Attached {
        THREAD_BITS = attach::THREAD_BITS;
    }

    /// Channels of a JVM that was running before Ravel came.
    long Channel {
        ALL = attach::ALL;
        READERS = attach::READERS;
    }

    /// Sizes of tables: entries, or their logarithm.
    int Size {
        SAMPLES = recorder::SAMPLE_PLACES;
        VOLATILES = recorder::VOLATILES;
        OWNERS = recorder::OWNERS;
        REGIONS_BITS = recorder::REGIONS.trailing_zeros();
        REPEATS_BITS = thread_block::REPEATS_BITS;
        SETTLED_BITS = thread_block::SETTLED_BITS;
        KNOWN_ARRAYS = thread_block::KNOWN_ARRAYS;
        SITE_SLOTS = thread_block::SITE_SLOTS;
        MANY_SLOTS = thread_block::MANY_SLOTS;
    }

    /// An odd number whose multiples differ in all bits.
    long Hash {
        MIX = recorder::MIX;
    }

    /// Kinds of random numbers.
    int Chance {
        SEED = chance::SEED;
        SHARED = chance::SHARED;
        LOCAL = chance::LOCAL;
        SPLITTABLE = chance::SPLITTABLE;
    }

    /// What a thread is to its parent.
    int ThreadSort {
        STARTED = thread_sort::STARTED;
        ON_DEMAND = thread_sort::ON_DEMAND;
        HOOK = thread_sort::HOOK;
    }

    /// The numbers of pools: those of the program come after the others.
    int Pool {
        COMMON = spawn::COMMON;
        COROUTINES = spawn::COROUTINES;
        CLEANERS = spawn::CLEANERS;
        DELAYS = spawn::DELAYS;
        FIRST = spawn::FIRST;
    }

    /// What a test runner tells.
    int TestNote {
        RUN_ONE_BY = test_note::RUN_ONE_BY;
        BEGIN = test_note::BEGIN;
        END = test_note::END;
    }

    /// How the activation of a unit ended.
    int Ended {
        NOTHING = ended::NOTHING;
        VALUE = ended::VALUE;
        OBJECT = ended::OBJECT;
        THROWN = ended::THROWN;
    }

    /// Forms of the time.
    int Clock {
        NANOS = Form::Nanos;
        MILLIS = Form::Millis;
        WALL_NANOS = Form::WallNanos;
    }
}

/// The layout in a number: FNV-1a of all names, types and values.
pub const DIGEST: u64 = {
    let mut hash = FNV_BASIS;
    let mut group = 0;
    while group < LAYOUT.len() {
        let Group {
            name,
            java_type,
            constants,
            ..
        } = LAYOUT[group];
        hash = fnv(fnv(hash, name.as_bytes()), java_type.as_bytes());
        let mut constant = 0;
        while constant < constants.len() {
            let (name, value) = constants[constant];
            hash = fnv(fnv(hash, name.as_bytes()), &value.to_be_bytes());
            constant += 1;
        }
        group += 1;
    }
    hash
};

pub(crate) const FNV_BASIS: u64 = 0xCBF2_9CE4_8422_2325;

/// Adds bytes to an FNV-1a hash.
pub(crate) const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x100_0000_01B3);
        at += 1;
    }
    hash
}

// The tests must compile in any case: one of them brings the classes up to date.
#[cfg(not(test))]
const _: () = {
    const COMPILED: u64 = include!("../java/classes/layout.digest");
    assert!(
        DIGEST == COMPILED,
        "the layout has changed since the Java classes were compiled: run scripts/compile-java.sh"
    );
};
