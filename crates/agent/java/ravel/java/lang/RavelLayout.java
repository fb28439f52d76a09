package java.lang;

/** Generated from layout.rs by scripts/compile-java.sh: do not edit. */
final class RavelLayout {
    private RavelLayout() {}

    /** Offsets in a thread's block. */
    static final class Block {
        private Block() {}

        static final long CURSOR = 0L;
        static final long LIMIT = 8L;
        static final long POSITION = 16L;
        static final long TAG = 20L;
        static final long MARK = 24L;
        static final long TOP = 32L;
        static final long WRITTEN = 40L;
        static final long CALL = 48L;
        static final long STEP = 52L;
        static final long NEXT_ID = 56L;
        static final long LAST_ID = 64L;
        static final long OPAQUE = 72L;
        static final long STACK_LIMIT = 80L;
        static final long SEGMENT = 88L;
        static final long STALE = 92L;
        static final long STAMP = 96L;
        static final long WAITING = 104L;
        static final long MODEL = 112L;
        static final long NEST = 120L;
        static final long NOVEL = 124L;
        static final long BOTTOM = 128L;
        static final long MODEL_BASE = 136L;
        static final long GATE = 144L;
        static final long REPEATS = 152L;
        static final long THREAD = 160L;
        static final long CLAIMS = 196L;
        static final long EPOCH = 200L;
        static final long SHAKEN = 208L;
        static final long SETTLED = 216L;
        static final long RUN_END = 224L;
        static final long PASSED = 228L;
        static final long ASKED = 232L;
        static final long HELD = 236L;
        static final long INSIDE = 240L;
        static final long CALLED = 244L;
        static final long OWN_PLACE = 248L;
        static final long OWN_CURSOR = 256L;
        static final long STRETCH = 264L;
        static final long SURE_OBJECTS = 272L;
        static final long SURE_ARRAYS = 1296L;
        static final long VAIN = 2320L;
        static final long SURE_MANY = 2448L;
        static final long HEARD = 6544L;
        static final long UNSEEN = 6548L;
        static final long UNTOLD = 6552L;
        static final long OLDER = 6556L;
    }

    /** Offsets in a frame of the shadow stack. */
    static final class Frame {
        private Frame() {}

        static final long METHOD = 0L;
        static final long CALL = 4L;
        static final long POSITION = 8L;
        static final long STEP = 12L;
        static final long LOCK = 16L;
        static final long SITE = 24L;
        static final long AGAIN = 28L;
        static final long SIZE = 32L;
    }

    /** Offsets in a frame of the stack of modelled methods; STACK is the size of that stack. */
    static final class ModelFrame {
        private ModelFrame() {}

        static final long MODEL = 0L;
        static final long NEST = 4L;
        static final long OPAQUE = 8L;
        static final long OBJECT = 16L;
        static final long EXTRA = 24L;
        static final long SITE = 32L;
        static final long ALONE = 36L;
        static final long SIZE = 40L;
        static final long STACK = 2560L;
    }

    /** Records: the offsets of the words after the head, and the size; the first id of an object that has no word, and of one that only orders. */
    static final class RawRecord {
        private RawRecord() {}

        static final long A = 8L;
        static final long B = 16L;
        static final long SIZE = 24L;
        static final long TABLE_OBJECT = 70368744177664L;
        static final long ORDER_OBJECT = 71468255805440L;
    }

    /** What sort of value is told in words. */
    static final class Told {
        private Told() {}

        static final int STRING = 0;
        static final int NAME = 1;
        static final int INTEGRAL = 2;
        static final int BOOLEAN = 3;
        static final int CHARACTER = 4;
        static final int FLOAT = 5;
        static final int DOUBLE = 6;
        static final int OBJECT = 7;
    }

    /** Places in words of records: site and position in the head, the field in the word that names a modelled state. */
    static final class Shift {
        private Shift() {}

        static final int SITE = 6;
        static final int POSITION = 32;
        static final int STATE_FIELD = 48;
    }

    /** Kinds of records. */
    static final class Kind {
        private Kind() {}

        static final int MARK = 0;
        static final int STAMP = 1;
        static final int READ = 2;
        static final int WRITE = 3;
        static final int READ_ELEMENT = 5;
        static final int WRITE_ELEMENT = 6;
        static final int READ_STATE = 7;
        static final int WRITE_STATE = 8;
        static final int UPDATE_STATE = 9;
        static final int READ_ENTRY = 10;
        static final int UPDATE_ENTRY = 12;
        static final int ACQUIRE = 13;
        static final int RELEASE = 14;
        static final int ACQUIRE_SHARED = 15;
        static final int RELEASE_SHARED = 16;
        static final int WAIT = 17;
        static final int RESUME = 18;
        static final int RESUME_UNNOTIFIED = 19;
        static final int NOTIFY = 20;
        static final int NOTIFY_ALL = 21;
        static final int JOIN = 25;
        static final int SEND = 26;
        static final int RECEIVE = 27;
        static final int ENTER = 28;
        static final int EXIT = 29;
        static final int INITIALIZED = 30;
        static final int SHARE = 31;
        static final int RETURNED = 34;
        static final int CALL = 35;
        static final int JOIN_LIMITED = 36;
    }

    /** Effects of modelled methods. */
    static final class Effect {
        private Effect() {}

        static final int LOCK = 1;
        static final int TRY_LOCK = 2;
        static final int UNLOCK = 3;
        static final int LOCK_SHARED = 4;
        static final int TRY_LOCK_SHARED = 5;
        static final int UNLOCK_SHARED = 6;
        static final int AWAIT = 7;
        static final int SIGNAL = 8;
        static final int SIGNAL_ALL = 9;
        static final int SEND = 10;
        static final int RECEIVE = 11;
        static final int RECEIVE_IF = 12;
        static final int BARRIER = 13;
        static final int ROUNDS = 46;
        static final int TAKE_PERMITS = 47;
        static final int TRY_PERMITS = 48;
        static final int GIVE_PERMITS = 49;
        static final int DRAIN_PERMITS = 50;
        static final int EXCHANGE = 14;
        static final int GET = 15;
        static final int SET = 16;
        static final int UPDATE = 17;
        static final int COMPARE_AND_SET = 18;
        static final int MAP_GET = 19;
        static final int MAP_PUT = 20;
        static final int MAP_PUT_IF_ABSENT = 21;
        static final int MAP_REMOVE = 22;
        static final int MAP_COMPUTE = 30;
        static final int MAP_REPLACE_IF = 31;
        static final int MAP_UPDATE = 38;
        static final int QUEUE_PUT = 23;
        static final int QUEUE_TAKE = 24;
        static final int QUEUE_LOOK = 25;
        static final int STATE_READ = 26;
        static final int STATE_UPDATE = 27;
        static final int RUN = 29;
        static final int HIDE = 32;
        static final int UNLOCK_STAMP = 33;
        static final int TO_LOCK = 44;
        static final int TO_SHARED = 45;
        static final int SEND_ARGUMENT = 34;
        static final int RECEIVE_RESULT = 35;
        static final int MONITOR = 37;
        static final int JOIN = 39;
        static final int INVOKE = 40;
    }

    /** The number of a model: the masks of effect and field, where the field stands, and flags. */
    static final class Model {
        private Model() {}

        static final int EFFECT = 255;
        static final int FIELD = 8;
        static final int FIELDS = 65535;
        static final int THROUGH_HANDLE = 1073741824;
        static final int ALWAYS = -2147483648;
    }

    /** The number that hooks of accesses get: the mask of the site, and where the counts of points stand. */
    static final class Point {
        private Point() {}

        static final int SITE = 4194303;
        static final int COMING = 22;
        static final int MOVE = 27;
        static final int LONGEST = 31;
        static final int OF_TOOL = 1073741824;
    }

    /** The word of an object: the mask of its owner, shared or not, and where its id stands. */
    static final class Word {
        private Word() {}

        static final int OWNER = 2097151;
        static final int ID = 21;
    }

    /** The tag of threads that own nothing. */
    static final class Tag {
        private Tag() {}

        static final int LATE = 2097150;
    }

    /** Epochs of a thread. */
    static final class Epoch {
        private Epoch() {}

        static final long FIRST = 1L;
    }

    /** Bits of a site's byte. */
    static final class SiteFlag {
        private SiteFlag() {}

        static final int VOLATILE = 1;
        static final int CALLS_TOOL = 8;
        static final int CALLS_SERVICE = 16;
    }

    /** Bits of a site's hint in a search. */
    static final class Hint {
        private Hint() {}

        static final int QUIET = 1;
    }

    /** Bits of the recording's flags. */
    static final class Flag {
        private Flag() {}

        static final int KEEP_UNSHARED = 1;
        static final int KEEP_REPEATS = 2;
        static final int FORCING = 4;
        static final int WITH_NOISE = 8;
        static final int FOR_RACES = 16;
        static final int SEARCHING = 32;
        static final int INSIDE_JVM = 64;
        static final int FENCES = 128;
        static final int ATTACHED = 256;
    }

    /** What a thread of a search asks for. */
    static final class Request {
        private Request() {}

        static final int STEP = 0;
        static final int ACCESS = 1;
        static final int MONITOR = 2;
        static final int CALL = 3;
        static final int LOOK = 4;
        static final int YIELD = 5;
        static final int SLEEP = 6;
        static final int PARK = 7;
        static final int WAIT = 8;
        static final int JOIN = 9;
        static final int UNPARK = 10;
        static final int NOTIFY = 11;
        static final int NOTIFY_ALL = 12;
        static final int INTERRUPT = 13;
        static final int EXIT = 14;
        static final int TRY = 15;
        static final int LIVES = 16;
    }

    /** Milliseconds by which a thread may be late: a wait for its end with a longer limit counts as one without. */
    static final class Late {
        private Late() {}

        static final long MILLIS = 250L;
    }

    /** What it is told. */
    static final class Answer {
        private Answer() {}

        static final int GO = 0;
        static final int TIMED_OUT = 1;
        static final int OVER = 2;
        static final int FREE = 3;
    }

    /** The tables that Ravel.address knows. */
    static final class Address {
        private Address() {}

        static final int SEQUENCE = 0;
        static final int SITES = 1;
        static final int STATICS = 2;
        static final int OWNERS = 3;
        static final int FLAGS = 4;
        static final int BLOCKS = 5;
        static final int REGIONS = 6;
        static final int VOLATILES = 7;
        static final int SAMPLES = 8;
        static final int SAMPLE = 9;
        static final int INITIALIZATIONS = 10;
        static final int LOCKS_ASKED = 16;
        static final int ENDS = 11;
        static final int HINTS = 12;
        static final int RELEASE = 13;
        static final int THREADS = 14;
        static final int MODE = 15;
    }

    /** A JVM that was running before Ravel came: how many bits of a thread's id are looked at. */
    static final class Attached {
        private Attached() {}

        static final int THREAD_BITS = 24;
    }

    /** Channels of a JVM that was running before Ravel came. */
    static final class Channel {
        private Channel() {}

        static final long ALL = 71474698256384L;
        static final long READERS = 71473087643648L;
    }

    /** Sizes of tables: entries, or their logarithm. */
    static final class Size {
        private Size() {}

        static final int SAMPLES = 16777216;
        static final int VOLATILES = 4096;
        static final int OWNERS = 1048576;
        static final int REGIONS_BITS = 20;
        static final int REPEATS_BITS = 7;
        static final int SETTLED_BITS = 12;
        static final int KNOWN_ARRAYS = 4096;
        static final int SITE_SLOTS = 128;
        static final int MANY_SLOTS = 512;
    }

    /** An odd number whose multiples differ in all bits. */
    static final class Hash {
        private Hash() {}

        static final long MIX = -7046029254386353131L;
    }

    /** Kinds of random numbers. */
    static final class Chance {
        private Chance() {}

        static final int SEED = 0;
        static final int SHARED = 1;
        static final int LOCAL = 2;
        static final int SPLITTABLE = 3;
    }

    /** What a thread is to its parent. */
    static final class ThreadSort {
        private ThreadSort() {}

        static final int STARTED = 0;
        static final int ON_DEMAND = -1;
        static final int HOOK = 1;
    }

    /** The numbers of pools: those of the program come after the others. */
    static final class Pool {
        private Pool() {}

        static final int COMMON = 0;
        static final int COROUTINES = 1;
        static final int CLEANERS = 2;
        static final int DELAYS = 3;
        static final int FIRST = 4;
    }

    /** What a test runner tells. */
    static final class TestNote {
        private TestNote() {}

        static final int RUN_ONE_BY = 0;
        static final int BEGIN = 1;
        static final int END = 2;
    }

    /** How the activation of a unit ended. */
    static final class Ended {
        private Ended() {}

        static final int NOTHING = 0;
        static final int VALUE = 1;
        static final int OBJECT = 2;
        static final int THROWN = 3;
    }

    /** Forms of the time. */
    static final class Clock {
        private Clock() {}

        static final int NANOS = 0;
        static final int MILLIS = 1;
        static final int WALL_NANOS = 2;
    }
}
