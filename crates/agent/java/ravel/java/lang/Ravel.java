package java.lang;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What instrumented code calls. Everything here must be an intrinsic, a field or plain arithmetic on the way of a plain
 * access: anything else would call instrumented code again.
 *
 * <p>Hooks end at the question whether there is anything to record, and the JIT inlines those that are hot; what follows is never
 * inlined. Hooks inlined everywhere would cost the JIT more time than the calls do.
 *
 * <p>The state of a thread is an off-heap block (see thread_block.rs, which has the same offsets); its address is a field added
 * to Thread. Address 0 means that the thread is not recorded, and then nothing else of this class may be touched: before
 * the VM is initialised, Unsafe is not usable.
 *
 * <p>An object of an instrumented class has a word: {@code named << 63 | id << 21 | owner << 1 | shared}. The owner is the only thread
 * that has touched it so far; in a shared object these bits hold a claim, see settle. Word 0 is "not yet numbered" in application objects and "not tracked" in JDK objects.
 */
public final class Ravel {
    private Ravel() {}

    /** Constants that need an initialised VM; touched only by threads that are recorded. */
    static final class H {
        /** The field that a handle or updater is for, by the handle's number; -1 if it is none that is known. */
        static int[] handles = new int[64];

        static final Unsafe U = Unsafe.getUnsafe();
        static final long SEQUENCE = Ravel.address(0);
        static final long SITES = Ravel.address(1);
        static final long STATICS = Ravel.address(2);
        static final long OWNERS = Ravel.address(3);
        static final int FLAGS = (int) Ravel.address(4);
        static final long BLOCKS = Ravel.address(5);
        static final long REGIONS = Ravel.address(6);
        static final long VOLATILES = Ravel.address(7);
        static final long SAMPLES = Ravel.address(8);
        static final int SAMPLE = (int) Ravel.address(9);
        static final long METHODS = Ravel.address(10);
        static final long INITIALIZATIONS = Ravel.address(11);
        /** Where in the thread's block stands what moves whenever an access may say something new again: see sure. */
        static final long SAYS_NEW = (FLAGS & FOR_RACES) != 0 ? STRETCH : EPOCH;
        static final long SEED = U.objectFieldOffset(java.util.concurrent.atomic.AtomicLong.class, "value");
        static final long CLASS_WORD = U.objectFieldOffset(Class.class, "ravel$o");
        static final Ref[] TABLE = new Ref[1 << 16];

        private H() {}
    }

    /** The number of an object that has no word. */
    static final class Ref extends WeakReference<Object> {
        final int number;
        final int hash;
        Ref next;

        Ref(Object object, int number, int hash, Ref next) {
            super(object);
            this.number = number;
            this.hash = hash;
            this.next = next;
        }
    }

    // Offsets in the thread's block.
    private static final long CURSOR = 0;
    private static final long LIMIT = 8;
    private static final long POSITION = 16;
    private static final long TAG = 20;
    private static final long MARK = 24;
    private static final long TOP = 32;
    private static final long WRITTEN = 40;
    private static final long CALL = 48;
    private static final long STEP = 52;
    private static final long NEXT_ID = 56;
    private static final long LAST_ID = 64;
    private static final long OPAQUE = 72;
    private static final long STACK_LIMIT = 80;
    private static final long SEGMENT = 88;
    private static final long STALE = 92;
    private static final long STAMP = 96;
    private static final long WAITING = 104;
    private static final long MODEL = 112;
    private static final long NEST = 120;
    private static final long NOVEL = 124;
    private static final long BOTTOM = 128;
    private static final long MODEL_BASE = 136;
    private static final long GATE = 144;
    private static final long NOISE = 148;
    private static final long REPEATS = 152;
    private static final long THREAD = 160;
    private static final long ENDED = 188;
    private static final long CLAIMS = 196;
    private static final long EPOCH = 200;
    private static final long SHAKEN = 208;
    private static final long SETTLED = 216;
    private static final long RUN_END = 224;
    private static final long HELD = 228;
    private static final long INSIDE = 232;
    private static final long STRETCH = 240;
    private static final long SURE_OBJECTS = 248;
    private static final long SURE_ARRAYS = SURE_OBJECTS + 8 * 128;
    private static final long VAIN = SURE_ARRAYS + 8 * 128;
    private static final long SURE_MANY = VAIN + 128;

    // In the table at SETTLED: the arrays last seen, after 4096 entries of settle.
    private static final long KNOWN_ARRAYS = 4096 * 16;

    // Frames of the shadow stack: method, call site, position, step, lock.
    private static final long FRAME = 32;
    /** Counts of samples, by site and thread. */
    private static final long SAMPLE_PLACES = 1 << 24;
    // Frames of the model stack: model, nest, opaque, object, argument.
    private static final long MODEL_FRAME = 40;
    private static final long MODEL_FRAMES = 40 * 64;

    private static final int OWNER_BITS = 0x1FFFFF;

    // Who has a shared object, see settle.
    private static final int CLAIM_BITS = 0xFFFFF;
    private static final int READERS = 0x80000;
    private static final int CLAIMANTS = 1023;
    private static final int CONTESTED = 1;
    /** How often the same code must have done the same before the next time says nothing new. */
    private static final int ENOUGH = 8;
    /** The same where a claim has been broken before. */
    private static final int PLENTY = 128;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    // Kinds, as in ravel_trace::raw.
    private static final int MARK_KIND = 0;
    private static final int STAMP_KIND = 1;
    private static final int READ = 2;
    private static final int WRITE = 3;
    private static final int READ_ELEMENT = 5;
    private static final int WRITE_ELEMENT = 6;
    private static final int READ_STATE = 7;
    private static final int WRITE_STATE = 8;
    private static final int UPDATE_STATE = 9;
    private static final int READ_ENTRY = 10;
    private static final int ACQUIRE = 13;
    private static final int RELEASE = 14;
    private static final int ACQUIRE_SHARED = 15;
    private static final int RELEASE_SHARED = 16;
    private static final int WAIT = 17;
    private static final int RESUME = 18;
    private static final int RESUME_UNNOTIFIED = 19;
    private static final int NOTIFY = 20;
    private static final int NOTIFY_ALL = 21;
    private static final int JOIN = 25;
    private static final int SEND = 26;
    private static final int RECEIVE = 27;
    private static final int ENTER = 28;
    private static final int EXIT = 29;
    private static final int INITIALIZED = 30;
    private static final int SHARE = 31;

    // The site in what the hooks of application code are given, see pass.
    private static final int SITE = (1 << 22) - 1;

    // Bits of a site's byte in SITES.
    private static final int SITE_VOLATILE = 1;
    private static final int SITE_FINAL = 2;

    // Bits of FLAGS.
    private static final int KEEP_UNSHARED = 1;
    private static final int KEEP_REPEATS = 2;
    private static final int FORCING = 4;
    private static final int WITH_NOISE = 8;
    /** The recording is for races alone: it has frames only where code outside the program calls, and where methods lock. */
    private static final int FOR_RACES = 16;

    private static native long address(int which);

    private static native long flush(long thread);

    private static native long grow(long thread);

    private static native long ids(long thread);

    private static native long settled(long thread);

    private static native void shake();

    private static native int number(Class<?> type);

    private static native void name(long object, Class<?> type);

    private static native void fork(long thread, Thread child, boolean onDemand);

    private static native void gate(long thread);

    private static native void next(long thread);

    private static native void lock(Object lock);

    private static native void unlock(Object lock);

    private static native void want(long thread, long lock);

    private static native void got(long thread, long lock);

    private static native void give(long thread, long lock, boolean all);

    private static native void noise(long thread);

    private static native void began(Thread thread);

    private static native void ended(Thread thread);

    private static native long chance(long thread, int kind);

    private static native long clock(long thread, int form);

    private static native void timed(long thread, long nanos, boolean exact);

    private static native void died(Thread thread, Throwable exception);

    /**
     * Called once, before the first thread is recorded: the JVM looks native methods up in Java code, which would be
     * recorded and call them again.
     */
    static void prepare() {
        if (H.TABLE.length == 0) return;
        new Ref(H.TABLE, 0, 0, null).refersTo(null);
        flush(0);
        grow(0);
        ids(0);
        settled(0);
        shake();
        number(Object.class);
        name(0, Object.class);
        fork(0, null, false);
        gate(0);
        next(0);
        lock(null);
        unlock(null);
        want(0, 0);
        got(0, 0);
        give(0, 0, false);
        noise(0);
        began(null);
        ended(null);
        died(null, null);
        chance(0L, 0);
        clock(0L, 0);
        timed(0L, 0L, true);
        hasWord(Object.class);
        fieldName(Object.class, 0);
        fieldNumber(Object.class, 0);
        offset(Object.class);
    }

    // ---- fields -----------------------------------------------------------------------------------------------

    public static void get(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, READ, code, o, w, v);
    }

    public static void get(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, READ, code, o, w, v);
    }

    public static void get(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, READ, code, o, w, Float.floatToRawIntBits(v));
    }

    public static void get(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, READ, code, o, w, Double.doubleToRawLongBits(v));
    }

    public static void get(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, READ, code, o, w, reference(v));
    }

    public static void volatileGet(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (sureVolatile(t, w, code) || ((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return;
        access(t, READ, code, o, w, v);
    }

    public static void volatileGet(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (sureVolatile(t, w, code) || ((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return;
        access(t, READ, code, o, w, v);
    }

    public static void volatileGet(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (sureVolatile(t, w, code) || ((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return;
        access(t, READ, code, o, w, Float.floatToRawIntBits(v));
    }

    public static void volatileGet(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (sureVolatile(t, w, code) || ((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return;
        access(t, READ, code, o, w, Double.doubleToRawLongBits(v));
    }

    public static void volatileGet(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (sureVolatile(t, w, code) || ((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return;
        access(t, READ, code, o, w, reference(v));
    }

    public static void put(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, WRITE, code, o, w, v);
    }

    public static void put(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, WRITE, code, o, w, v);
    }

    public static void put(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, WRITE, code, o, w, Float.floatToRawIntBits(v));
    }

    public static void put(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, WRITE, code, o, w, Double.doubleToRawLongBits(v));
    }

    public static void put(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sure(t, w, code)) return;
        access(t, WRITE, code, o, w, reference(v));
    }

    /** The thread has an object: all that is wanted of an access that cannot race to an object of which others may. */
    public static void touch(Object o, long w) {
        if ((w & 1) != 0) return;
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || ((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return;
        share(t, o, w, H.U.getInt(t + POSITION));
    }

    /**
     * Whether this access says nothing new: see settle, which found so when the object's word was the same. In a recording for races: the
     * thread has made it before, and has ordered nothing after itself since. What races with this one then races with that one, which
     * had no lock that this one has not.
     */
    @ForceInline
    private static boolean sure(long t, long w, int site) {
        return H.U.getLong(t + SURE_OBJECTS + ((site & 127) << 3)) == w + site * MIX + H.U.getLong(t + H.SAYS_NEW);
    }

    /** The same, for code that sees many objects in turn. */
    @ForceInline
    private static boolean sureOfMany(long t, long w, int site) {
        return H.U.getLong(placeOfMany(t, (int) (w >>> 21), site)) == w + site * MIX + H.U.getLong(t + H.SAYS_NEW);
    }

    @ForceInline
    private static long placeOfMany(long t, int object, int site) {
        return t + SURE_MANY + ((site * 31 ^ object) & 511) * 8;
    }

    // ---- fields of tracked JDK objects: they count only when application code called, outside modelled methods ------

    public static void jget(int v, Object o, long w, int site) {
        jdk(READ, o, w, site, v);
    }

    public static void jget(long v, Object o, long w, int site) {
        jdk(READ, o, w, site, v);
    }

    public static void jget(float v, Object o, long w, int site) {
        jdk(READ, o, w, site, Float.floatToRawIntBits(v));
    }

    public static void jget(double v, Object o, long w, int site) {
        jdk(READ, o, w, site, Double.doubleToRawLongBits(v));
    }

    public static void jget(Object v, Object o, long w, int site) {
        jdk(READ, o, w, site, reference(v));
    }

    public static void jput(int v, Object o, long w, int site) {
        jdk(WRITE, o, w, site, v);
    }

    public static void jput(long v, Object o, long w, int site) {
        jdk(WRITE, o, w, site, v);
    }

    public static void jput(float v, Object o, long w, int site) {
        jdk(WRITE, o, w, site, Float.floatToRawIntBits(v));
    }

    public static void jput(double v, Object o, long w, int site) {
        jdk(WRITE, o, w, site, Double.doubleToRawLongBits(v));
    }

    public static void jput(Object v, Object o, long w, int site) {
        jdk(WRITE, o, w, site, reference(v));
    }

    private static void jdk(int kind, Object o, long w, int site, long v) {
        if (w == 0) return;
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t)) return;
        step(t);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG) || sureOfMany(t, w, site)) return;
        if ((H.FLAGS & FOR_RACES) != 0) H.U.putInt(t + INSIDE, 1);
        access(t, kind, site, o, w, v);
        if ((H.FLAGS & FOR_RACES) != 0) H.U.putInt(t + INSIDE, 0);
    }

    @DontInline
    public static void jaget(Object a, int i, Object v, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t)) return;
        step(t);
        if ((H.FLAGS & FOR_RACES) != 0) H.U.putInt(t + INSIDE, 1);
        lookAtReference(t, READ_ELEMENT, a, i, v, site);
        if ((H.FLAGS & FOR_RACES) != 0) H.U.putInt(t + INSIDE, 0);
    }

    @DontInline
    public static void japut(Object v, Object a, int i, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t)) return;
        step(t);
        if ((H.FLAGS & FOR_RACES) != 0) H.U.putInt(t + INSIDE, 1);
        lookAtReference(t, WRITE_ELEMENT, a, i, v, site);
        if ((H.FLAGS & FOR_RACES) != 0) H.U.putInt(t + INSIDE, 0);
    }

    /** The word of a JDK object being made. */
    public static long jborn() {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t)) return 0;
        return word(t);
    }

    @ForceInline
    private static boolean hidden(long t) {
        long top = H.U.getLong(t + TOP);
        return top == H.U.getLong(t + BOTTOM) || top == H.U.getLong(t + OPAQUE);
    }

    /** The word of an application object being made. */
    public static long born() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? 0 : word(t);
    }

    @ForceInline
    private static long word(long t) {
        long id = H.U.getLong(t + NEXT_ID);
        if (id == H.U.getLong(t + LAST_ID)) id = ids(t);
        H.U.putLong(t + NEXT_ID, id + 1);
        return id << 21 | ((H.FLAGS & KEEP_UNSHARED) != 0 ? 1 : H.U.getInt(t + TAG));
    }

    // ---- statics ----------------------------------------------------------------------------------------------

    public static void getStatic(int v, int code) {
        statics(READ, code, v);
    }

    public static void getStatic(long v, int code) {
        statics(READ, code, v);
    }

    public static void getStatic(float v, int code) {
        statics(READ, code, Float.floatToRawIntBits(v));
    }

    public static void getStatic(double v, int code) {
        statics(READ, code, Double.doubleToRawLongBits(v));
    }

    public static void getStatic(Object v, int code) {
        statics(READ, code, reference(v));
    }

    public static void putStatic(int v, int code) {
        statics(WRITE, code, v);
    }

    public static void putStatic(long v, int code) {
        statics(WRITE, code, v);
    }

    public static void putStatic(float v, int code) {
        statics(WRITE, code, Float.floatToRawIntBits(v));
    }

    public static void putStatic(double v, int code) {
        statics(WRITE, code, Double.doubleToRawLongBits(v));
    }

    public static void putStatic(Object v, int code) {
        statics(WRITE, code, reference(v));
    }

    /** STATICS has a word for each site: the index of its field's owner in the same table, found by the agent. */
    @ForceInline
    private static void statics(int kind, int code, long v) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        long owner = H.STATICS + 4L * H.U.getInt(H.STATICS + 4L * (code & SITE));
        int tag = H.U.getInt(owner);
        if (tag == H.U.getInt(t + TAG)) return;
        staticAccess(t, kind, code & SITE, position(t, code), owner, tag, v);
    }

    @DontInline
    private static void staticAccess(long t, int kind, int site, int p, long owner, int tag, long v) {
        if ((tag & 1) == 0) {
            // Nobody knows who made it; the first thread usually did. Any other one finds it shared.
            if (tag == 0 && H.U.getInt(t + THREAD) == 0 && (H.FLAGS & KEEP_UNSHARED) == 0) {
                H.U.putInt(owner, H.U.getInt(t + TAG));
                return;
            }
            H.U.putInt(owner, tag = 1);
        }
        int flags = H.U.getByte(H.SITES + site);
        if (flags != 0) {
            special(t, kind, site, p, 0, v, flags);
            return;
        }
        if ((H.FLAGS & KEEP_REPEATS) == 0) {
            int field = H.U.getInt(H.STATICS + 4L * site);
            if (repeated(t, (long) field << 1 | kind & 1)) return;
            int claim = tag >>> 1;
            int next = settle(t, kind == WRITE, site, field, claim);
            if (next < 0) return;
            if (next != claim) H.U.compareAndSetInt(null, owner, tag, next << 1 | 1);
        }
        recordPlain(t, kind, site, p, 0, v);
    }

    // ---- arrays -----------------------------------------------------------------------------------------------

    public static void aget(Object a, int i, int v, int code) {
        element(READ_ELEMENT, a, i, v, code);
    }

    public static void aget(Object a, int i, long v, int code) {
        element(READ_ELEMENT, a, i, v, code);
    }

    public static void aget(Object a, int i, float v, int code) {
        element(READ_ELEMENT, a, i, Float.floatToRawIntBits(v), code);
    }

    public static void aget(Object a, int i, double v, int code) {
        element(READ_ELEMENT, a, i, Double.doubleToRawLongBits(v), code);
    }

    public static void aget(Object a, int i, Object v, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        lookAtReference(t, READ_ELEMENT, a, i, v, code);
    }

    public static void aput(int v, Object a, int i, int code) {
        element(WRITE_ELEMENT, a, i, v, code);
    }

    public static void aput(long v, Object a, int i, int code) {
        element(WRITE_ELEMENT, a, i, v, code);
    }

    public static void aput(float v, Object a, int i, int code) {
        element(WRITE_ELEMENT, a, i, Float.floatToRawIntBits(v), code);
    }

    public static void aput(double v, Object a, int i, int code) {
        element(WRITE_ELEMENT, a, i, Double.doubleToRawLongBits(v), code);
    }

    public static void aput(Object v, Object a, int i, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        lookAtReference(t, WRITE_ELEMENT, a, i, v, code);
    }

    @ForceInline
    private static void element(int kind, Object a, int i, long v, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        pass(t, code);
        if (a != null && H.U.getLong(t + SURE_ARRAYS + ((code & 127) << 3)) == sureElement(t, a, i, code)) return;
        elementAccess(t, kind, code, a, i, v);
    }

    @ForceInline
    private static void lookAtReference(long t, int kind, Object a, int i, Object v, int code) {
        if (a != null && H.U.getLong(t + SURE_ARRAYS + ((code & 127) << 3)) == sureReference(t, a, i, code)) return;
        elementAccess(t, kind, code, a, i, reference(v));
    }

    /** Like sureElement. Where C2 knows that it is an array of references, it will not read the header as a number. */
    @ForceInline
    private static long sureReference(long t, Object a, int i, int code) {
        return System.identityHashCode(a) + code * MIX + ((long) (i >>> 12) << 40) + H.U.getLong(t + SHAKEN);
    }

    /**
     * What stands for a stretch of an array at a site as long as nobody else meddles. The header of an array that is no lock has
     * its identity hash.
     */
    @ForceInline
    private static long sureElement(long t, Object a, int i, int code) {
        return H.U.getLong(a, 0L) + code * MIX + ((long) (i >>> 12) << 40) + H.U.getLong(t + SHAKEN);
    }

    @DontInline
    private static void elementAccess(long t, int kind, int code, Object a, int i, long v) {
        if (a == null || i < 0 || i >= java.lang.reflect.Array.getLength(a)) return;
        // Elements of arrays are not watched in this forced run.
        if (H.U.getByte(H.SITES + (code & SITE)) != 0) return;
        int hash = System.identityHashCode(a);
        // Looked at before anything that it depends on.
        boolean references = a instanceof Object[];
        long sure = references ? sureReference(t, a, i, code) : sureElement(t, a, i, code);
        // A header that is in use for locking is no name.
        boolean lasting = references || (H.U.getLong(a, 0L) & 7) == 1;
        long place = placeOfMany(t, hash ^ i >>> 12, code);
        if (lasting && H.U.getLong(place) == sure) {
            H.U.putLong(t + SURE_ARRAYS + ((code & 127) << 3), sure);
            return;
        }
        long w = find(t, a, hash);
        if ((int) w == H.U.getInt(t + TAG)) {
            if (lasting) {
                H.U.putLong(t + SURE_ARRAYS + ((code & 127) << 3), sure);
                H.U.putLong(place, sure);
            }
            return;
        }
        int site = code & SITE;
        long number = w >>> 32;
        long location = number << 32 | i;
        if ((H.FLAGS & KEEP_REPEATS) == 0) {
            if (repeated(t, location << 1 | kind & 1)) return;
            long stretch = number << 18 | i >>> 12;
            long region = H.REGIONS + ((stretch * MIX >>> 44) << 2);
            int claim = H.U.getInt(region);
            int next = settle(t, kind == WRITE_ELEMENT, site, stretch, claim);
            if (next < 0) {
                if (lasting) {
                    H.U.putLong(t + SURE_ARRAYS + ((code & 127) << 3), sure);
                    H.U.putLong(place, sure);
                }
                return;
            }
            if (next != claim && H.U.compareAndSetInt(null, region, claim, next) && claim > CONTESTED) tell(claim);
        }
        recordPlain(t, kind, site, position(t, code), location, v);
    }

    /** Whoever took no notice of an array must look again. */
    private static void tell(int claim) {
        if (claim >= READERS) {
            shake();
        } else {
            long owner = H.U.getLong(H.BLOCKS + (claim >>> 9 << 3));
            if (owner != 0) H.U.getAndAddLong(null, owner + SHAKEN, MIX);
        }
    }

    /** Looks an array up: its owner's tag if one thread has it alone, else {@code number << 32 | 1}. */
    private static long find(long t, Object a, int hash) {
        long known = H.U.getLong(t + SETTLED);
        if (known == 0) known = settled(t);
        known += KNOWN_ARRAYS + ((hash & 4095) << 4);
        int stale = H.U.getInt(t + STALE);
        if (H.U.getInt(known) == hash && H.U.getInt(known + 4) == stale) return H.U.getLong(known + 8);
        long slot = H.OWNERS + ((long) (hash & 0xFFFFF) << 3);
        long entry = H.U.getLong(slot);
        int mine = H.U.getInt(t + TAG);
        long w;
        if ((int) (entry >>> 32) != hash) {
            if ((H.FLAGS & KEEP_UNSHARED) == 0) {
                H.U.putLong(slot, (long) hash << 32 | mine);
                w = mine;
            } else {
                w = (long) numbered(a, hash) << 32 | 1;
            }
        } else if ((int) entry == mine) {
            w = mine;
        } else {
            if ((int) entry != 1) {
                H.U.putLong(slot, (long) hash << 32 | 1);
                long owner = H.U.getLong(H.BLOCKS + ((entry & OWNER_BITS) >>> 1 << 3));
                if (owner != 0) {
                    H.U.getAndAddInt(null, owner + STALE, 1);
                    H.U.getAndAddLong(null, owner + SHAKEN, MIX);
                }
            }
            w = (long) numbered(a, hash) << 32 | 1;
        }
        H.U.putInt(known, hash);
        H.U.putInt(known + 4, stale);
        H.U.putLong(known + 8, w);
        return w;
    }

    /** A new array: whoever makes it has it alone. */
    public static void made(Object a) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || (H.FLAGS & KEEP_UNSHARED) != 0) return;
        int hash = System.identityHashCode(a);
        H.U.putLong(H.OWNERS + ((long) (hash & 0xFFFFF) << 3), (long) hash << 32 | H.U.getInt(t + TAG));
    }

    /** A new array of arrays, each as deep as the other. */
    public static void madeDeep(Object a) {
        if (a == null) return;
        made(a);
        if (!(a instanceof Object[][]) && !(a instanceof Object[] && a.getClass().getComponentType().isArray())) return;
        for (Object inner : (Object[]) a) madeDeep(inner);
    }

    // ---- identity ---------------------------------------------------------------------------------------------

    @ForceInline
    private static long reference(Object v) {
        return v == null ? 0 : 1;
    }

    /** The number of any object: its word's, or one from the table. */
    private static long identity(Object o) {
        int offset = H.U.getInt(o.getClass(), H.CLASS_WORD);
        if (offset == 0) offset = offset(o.getClass());
        if (offset > 0) {
            long w = H.U.getLong(o, (long) offset);
            if (w >= 0) w = named(o, (long) offset);
            return id(w);
        }
        return 1L << 46 | numbered(o, System.identityHashCode(o)) & 0xFFFFFFFFL;
    }

    @ForceInline
    private static long id(long w) {
        return w << 1 >>> 22;
    }

    /** Tells the trace the class of an object that is used as more than a holder of fields; bit 63 of its word says so. */
    @DontInline
    private static long named(Object o, long offset) {
        long w = H.U.getLongVolatile(o, offset);
        while (w >= 0) {
            long next = (id(w) == 0 ? word(Thread.currentThread().ravel$t) : w) | 1L << 63;
            if (H.U.compareAndSetLong(o, offset, w, next)) {
                name(id(next), o.getClass());
                return next;
            }
            w = H.U.getLongVolatile(o, offset);
        }
        return w;
    }

    /** An object whose word does not say that this thread has it alone: numbers it, or marks it as shared. */
    @DontInline
    private static long share(long t, Object o, long w, int p) {
        int offset = H.U.getInt(o.getClass(), H.CLASS_WORD);
        if (offset == 0) offset = offset(o.getClass());
        if (offset < 0) return 0;
        while (true) {
            if ((w & 1) != 0) return w;
            if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return w;
            long next = id(w) == 0 ? word(t) : w & ~(long) OWNER_BITS | 1;
            if (H.U.compareAndSetLong(o, (long) offset, w, next)) {
                if ((next & 1) != 0) {
                    append(t, SHARE, 0, p, id(next), ((int) w & OWNER_BITS) / 2 - 1);
                }
                return next;
            }
            w = H.U.getLongVolatile(o, (long) offset);
        }
    }

    /** Where instances of a class have their word: -1 if they have none. */
    @DontInline
    private static int offset(Class<?> type) {
        int offset = -1;
        for (Class<?> c = type; c != null && offset < 0; c = c.getSuperclass()) {
            offset = wordOffset(c);
        }
        H.U.putInt(type, H.CLASS_WORD, offset);
        return offset;
    }

    private static int wordOffset(Class<?> type) {
        if (!hasWord(type)) return -1;
        try {
            return (int) H.U.objectFieldOffset(type, "ravel$w");
        } catch (InternalError e) {
            return -1;
        }
    }

    private static native boolean hasWord(Class<?> type);

    private static int numbered(Object o, int hash) {
        int slot = (hash ^ hash >>> 16) & 0xFFFF;
        for (Ref r = H.TABLE[slot]; r != null; r = r.next) {
            if (r.hash == hash && r.refersTo(o)) return r.number;
        }
        return enlist(o, hash, slot);
    }

    @DontInline
    private static int enlist(Object o, int hash, int slot) {
        synchronized (H.TABLE) {
            Ref live = null;
            for (Ref r = H.TABLE[slot]; r != null; r = r.next) {
                if (r.hash == hash && r.refersTo(o)) return r.number;
                if (!r.refersTo(null)) live = new Ref(r.get(), r.number, r.hash, live);
            }
            int number = number(o.getClass());
            H.TABLE[slot] = new Ref(o, number, hash, live);
            return number;
        }
    }

    // ---- recording --------------------------------------------------------------------------------------------

    /** A point that is in no run. */
    @ForceInline
    private static void step(long t) {
        if ((H.FLAGS & FORCING) != 0) whole(t);
        H.U.putInt(t + POSITION, H.U.getInt(t + POSITION) + H.U.getInt(t + STEP));
    }

    /**
     * A point of a run: of accesses that follow each other in straight-line code. The first moves the position for all of them,
     * since moving it is most of what a point costs; {@code code} is {@code points of the run << 27 | points still to come << 22 | site},
     * with no points of the run but at the first. A run that an exception cuts short counts as whole.
     *
     * <p>In forced runs each point moves the position by itself, to be asked for.
     */
    @ForceInline
    private static void pass(long t, int code) {
        if ((H.FLAGS & FORCING) != 0) {
            if (code >>> 27 != 0) begin(t, code >>> 27);
            H.U.putInt(t + POSITION, H.U.getInt(t + POSITION) + H.U.getInt(t + STEP));
        } else if (code >>> 27 != 0) {
            H.U.putInt(t + POSITION, H.U.getInt(t + POSITION) + (code >>> 27) * H.U.getInt(t + STEP));
        }
    }

    /** The position of a point of a run. */
    @ForceInline
    private static int position(long t, int code) {
        if ((H.FLAGS & FORCING) != 0) return H.U.getInt(t + POSITION);
        return H.U.getInt(t + POSITION) - (code >>> 22 & 31) * H.U.getInt(t + STEP);
    }

    /** In forced runs: a run of so many points begins. */
    private static void begin(long t, int points) {
        whole(t);
        if (H.U.getInt(t + STEP) != 0) H.U.putInt(t + RUN_END, H.U.getInt(t + POSITION) + points);
    }

    /** In forced runs: a run that was cut short counts as whole, as it does where it is recorded. */
    private static void whole(long t) {
        int end = H.U.getInt(t + RUN_END);
        if (H.U.getInt(t + STEP) != 0 && end - H.U.getInt(t + POSITION) > 0) H.U.putInt(t + POSITION, end);
    }

    @DontInline
    private static void access(long t, int kind, int code, Object o, long w, long v) {
        long place = t + SURE_OBJECTS + ((code & 127) << 3);
        if (sureVolatile(t, w, code)) return;
        long sure = w + code * MIX + H.U.getLong(t + H.SAYS_NEW);
        if (sureOfMany(t, w, code)) {
            H.U.putLong(place, sure);
            return;
        }
        int site = code & SITE;
        int p = position(t, code);
        if ((w & 1) == 0) {
            w = share(t, o, w, p);
            if ((w & 1) == 0 && (H.FLAGS & KEEP_UNSHARED) == 0) return;
        }
        int flags = H.U.getByte(H.SITES + site);
        if (flags != 0) {
            long writes = writesOf(site);
            boolean seen = special(t, kind, site, p, id(w), v, flags);
            if (seen) H.U.putLong(place, (flags & SITE_VOLATILE) != 0 ? sureOfVolatile(t, w, code, writes) : sure);
            return;
        }
        if ((H.FLAGS & FOR_RACES) != 0) {
            recordPlain(t, kind, site, p, id(w), v);
            if ((H.FLAGS & KEEP_REPEATS) != 0) return;
            sure = w + code * MIX + H.U.getLong(t + H.SAYS_NEW);
            H.U.putLong(place, sure);
            H.U.putLong(placeOfMany(t, (int) (w >>> 21), code), sure);
            return;
        }
        if ((H.FLAGS & KEEP_REPEATS) == 0) {
            if (repeated(t, id(w) << 24 ^ (long) H.U.getInt(H.STATICS + 4L * site) << 1 ^ kind & 1)) return;
            int claim = (int) w >>> 1 & CLAIM_BITS;
            int next = settle(t, kind == WRITE, site, id(w), claim);
            if (next < 0) {
                H.U.putLong(place, sure);
                H.U.putLong(placeOfMany(t, (int) (w >>> 21), code), sure);
                return;
            }
            if (next != claim) {
                // If it fails, somebody else is here: nothing is settled.
                H.U.compareAndSetLong(o, (long) H.U.getInt(o.getClass(), H.CLASS_WORD), w, w & ~((long) CLAIM_BITS << 1) | (long) next << 1);
            }
        }
        recordPlain(t, kind, site, p, id(w), v);
    }

    /** An access to a final or volatile field; gives whether the next such access says nothing new either, as long as nobody writes. */
    private static boolean special(long t, int kind, int site, int p, long object, long v, int flags) {
        if ((flags & SITE_VOLATILE) == 0) return true;
        if (kind == WRITE) {
            stamped(t, kind, site, p, object, v, H.U.getLong(t + STAMP));
            return false;
        }
        // Whoever wrote what was read has moved both counters before.
        long writes = writesOf(site);
        if ((H.FLAGS & KEEP_REPEATS) == 0 && seenBefore(t, object == 0 ? H.U.getInt(H.STATICS + 4L * site) : object, site, (int) writes)) return true;
        H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
        record(t, kind, site, p, object, v);
        return false;
    }

    /** Like sure, for fields that are known to be volatile. */
    @ForceInline
    private static boolean sureVolatile(long t, long w, int code) {
        return H.U.getLong(t + SURE_OBJECTS + ((code & 127) << 3)) == sureOfVolatile(t, w, code, writesOf(code & SITE));
    }

    /**
     * What stands for a read of a volatile field that says nothing new as long as it is not written. It cannot race, so in a
     * recording for races only the write that it sees counts.
     */
    @ForceInline
    private static long sureOfVolatile(long t, long w, int code, long writes) {
        long since = (H.FLAGS & FOR_RACES) != 0 ? 0 : H.U.getLong(t + EPOCH);
        return w + code * MIX + since ^ (writes + 1) * 0xC2B2AE3D27D4EB4FL;
    }

    /** Says whether a volatile field has been written since: some fields share a number. */
    @ForceInline
    private static long writesOf(int site) {
        return H.U.getLong(H.VOLATILES + ((H.U.getInt(H.STATICS + 4L * site) & 4095) << 3));
    }

    /** A volatile field is written: no number comes twice, so whoever looks sees it, whichever of two is there last. */
    private static void writing(int field, long number) {
        H.U.putLongRelease(null, H.VOLATILES + ((field & 4095) << 3), number);
    }

    private static void stamped(long t, int kind, int site, int p, long a, long b, long stamp) {
        frames(t);
        H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
        release(t);
        append(t, STAMP_KIND, 0, p, stamp, 0);
        H.U.putLong(t + MARK, stamp + 1);
        append(t, kind, site, p, a, b);
    }

    /** Before a write to a volatile field: its number must be smaller than that of any read that sees it. */
    public static void stamp(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if ((H.U.getByte(H.SITES + site) & SITE_VOLATILE) != 0) {
            long number = H.U.getAndAddLong(null, H.SEQUENCE, 1);
            H.U.putLong(t + STAMP, number);
            writing(H.U.getInt(H.STATICS + 4L * site), number);
        }
    }

    /**
     * Whether no pattern can need this access: since the last synchronisation or method boundary the thread has made
     * the same access twice, and nothing new in between. In a recording for races once is enough.
     */
    private static boolean repeated(long t, long key) {
        long entry = H.U.getLong(t + REPEATS) + (((key * 0x9E3779B97F4A7C15L) >>> 57) << 4);
        int segment = H.U.getInt(t + SEGMENT);
        int novel = H.U.getInt(t + NOVEL);
        if (H.U.getLong(entry) == key && H.U.getInt(entry + 8) >> 1 == segment << 1 >> 1) {
            if ((H.FLAGS & FOR_RACES) != 0) return true;
            int seen = H.U.getInt(entry + 12);
            if (seen == novel && (H.U.getInt(entry + 8) & 1) != 0) return true;
            H.U.putInt(entry + 8, segment << 1 | 1);
            H.U.putInt(entry + 12, novel);
            return false;
        }
        novel++;
        H.U.putInt(t + NOVEL, novel);
        H.U.putLong(entry, key);
        H.U.putInt(entry + 8, segment << 1);
        H.U.putInt(entry + 12, novel);
        return false;
    }

    /**
     * Whether an access to a shared object, or to a stretch of a shared array, says nothing new: the same code of the same thread has
     * accessed it often enough, nobody else has meanwhile, or nobody has written to it and this is a read, and the thread has
     * ordered nothing after itself since (locks apart).
     *
     * <p>The claim says who has it: 0 nobody yet, CONTESTED nobody, a thread with a count, or READERS with a count. Any other access
     * breaks it. Gives -1 if the access is to be left out, else the claim from now on.
     */
    private static int settle(long t, boolean write, int site, long group, int claim) {
        long table = H.U.getLong(t + SETTLED);
        if (table == 0) table = settled(t);
        // Where it never helped of late, it is seldom tried.
        long vain = t + VAIN + (site & 127);
        int tries = H.U.getByte(vain);
        if (tries == Byte.MAX_VALUE) {
            if (claim <= CONTESTED && (int) H.U.getLong(t + CURSOR) * (int) MIX >>> 28 != 0) return claim;
        } else {
            H.U.putByte(vain, (byte) (tries + 1));
        }
        long key = group << 25 ^ site;
        long entry = table + ((key * MIX >>> 52) << 4);
        int epoch = (int) (H.U.getLong(t + EPOCH) >>> 40);
        int n = 0;
        if (H.U.getLong(entry) == key && H.U.getInt(entry + 8) == claim && H.U.getInt(entry + 12) >>> 8 == epoch) {
            n = H.U.getInt(entry + 12) & 0xFF;
        }
        int me = H.U.getInt(t + THREAD) + 1;
        int next = claim;
        if (claim >= READERS ? !write : claim > CONTESTED && claim >>> 9 == me) {
            if (n >= ENOUGH) {
                H.U.putByte(vain, (byte) 0);
                return -1;
            }
        } else if (claim > CONTESTED && claim < READERS) {
            next = CONTESTED;
            n = 0;
        } else if (claim >= READERS || n >= (claim == 0 ? ENOUGH : PLENTY)) {
            int count = H.U.getInt(t + CLAIMS) + 1;
            H.U.putInt(t + CLAIMS, count);
            next = !write ? READERS | (count * 1021 + me) & READERS - 1 : me < CLAIMANTS ? me << 9 | count & 511 : CONTESTED;
            n = 0;
        }
        H.U.putLong(entry, key);
        H.U.putInt(entry + 8, next);
        H.U.putInt(entry + 12, epoch << 8 | Math.min(n + 1, 0xFF));
        return next;
    }

    /** Whether the same code has read a volatile field often enough since any such field was written. */
    private static boolean seenBefore(long t, long object, int site, int writes) {
        long table = H.U.getLong(t + SETTLED);
        if (table == 0) table = settled(t);
        long key = object << 25 ^ site;
        long entry = table + ((key * MIX >>> 52) << 4);
        int epoch = (H.FLAGS & FOR_RACES) != 0 ? 0 : (int) (H.U.getLong(t + EPOCH) >>> 40);
        int n = 0;
        if (H.U.getLong(entry) == key && H.U.getInt(entry + 8) == writes && H.U.getInt(entry + 12) >>> 8 == epoch) {
            n = H.U.getInt(entry + 12) & 0xFF;
            if (n >= ((H.FLAGS & FOR_RACES) != 0 ? 1 : ENOUGH)) return true;
        }
        H.U.putLong(entry, key);
        H.U.putInt(entry + 8, writes);
        H.U.putInt(entry + 12, epoch << 8 | n + 1);
        return false;
    }

    /** The thread has ordered something after what it did so far: what is left out may no longer rest on what came before. */
    private static void release(long t) {
        H.U.putLong(t + EPOCH, H.U.getLong(t + EPOCH) + MIX);
        H.U.putLong(t + STRETCH, H.U.getLong(t + STRETCH) + MIX);
        // If another thread adds to it meanwhile, one of the two is lost; it has moved all the same.
        H.U.putLong(t + SHAKEN, H.U.getLong(t + SHAKEN) + MIX);
    }

    /**
     * An access that is no synchronisation. Under a lock the acquisition and the release say well enough when it was, and the counter,
     * which all threads move, is looked at now and then only; and when a class has been initialised since, which orders threads
     * inside of critical sections.
     */
    private static void recordPlain(long t, int kind, int site, int p, long a, long b) {
        if ((H.FLAGS & FOR_RACES) != 0 && H.U.getInt(t + INSIDE) != 0) {
            // Whoever reads this needs the program's call.
            H.U.putInt(t + INSIDE, 0);
            frames(t);
            long method = H.U.getInt(H.METHODS + 4L * site);
            append(t, ENTER, H.U.getInt(t + CALL), p, method, 0);
            recordPlain(t, kind, site, p, a, b);
            append(t, EXIT, 0, p, method, 0);
            return;
        }
        boolean placed = H.U.getInt(t + HELD) > 0 && H.U.getLong(t + MARK) >= H.U.getLong(H.INITIALIZATIONS);
        if (placed && (p & 7) != 0 && (H.FLAGS & (FORCING | KEEP_REPEATS | WITH_NOISE)) == 0) {
            frames(t);
            append(t, kind, site, p, a, b);
        } else {
            record(t, kind, site, p, a, b);
        }
    }

    private static void record(long t, int kind, int site, int p, long a, long b) {
        if (H.SAMPLE != 0 && kind <= WRITE_ELEMENT && isSampled(t, site)) return;
        frames(t);
        long now = H.U.getLong(H.SEQUENCE);
        if (now != H.U.getLong(t + MARK)) {
            H.U.putLong(t + MARK, now);
            append(t, MARK_KIND, 0, p, now, 0);
        }
        append(t, kind, site, p, a, b);
        if ((H.FLAGS & WITH_NOISE) != 0) noise(t);
    }

    /**
     * When sampling: whether this thread has been recorded at this site often enough. Threads that share a count, and counts that
     * race, make the sample a little smaller or larger.
     */
    private static boolean isSampled(long t, int site) {
        long place = H.SAMPLES + ((long) site * 16 + (H.U.getInt(t + TAG) >>> 1 & 15) & SAMPLE_PLACES - 1);
        int seen = H.U.getByte(place) & 255;
        if (seen >= H.SAMPLE) return true;
        H.U.putByte(place, (byte) (seen + 1));
        return false;
    }

    /** Writes the methods that have been entered since the last record. */
    @ForceInline
    private static void frames(long t) {
        if (H.U.getLong(t + WRITTEN) != H.U.getLong(t + TOP)) writeFrames(t);
    }

    @DontInline
    private static void writeFrames(long t) {
        long top = H.U.getLong(t + TOP);
        long f = H.U.getLong(t + WRITTEN);
        while (f < top) {
            append(t, ENTER, H.U.getInt(f + 4), H.U.getInt(f + 8), H.U.getInt(f), 0);
            f += FRAME;
        }
        H.U.putLong(t + WRITTEN, top);
        H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
    }

    @ForceInline
    private static void append(long t, int kind, int site, int p, long a, long b) {
        long c = H.U.getLong(t + CURSOR);
        if (c == H.U.getLong(t + LIMIT)) c = flush(t);
        H.U.putLong(c, (long) p << 32 | (site << 6 | kind) & 0xFFFFFFFFL);
        H.U.putLong(c + 8, a);
        H.U.putLong(c + 16, b);
        H.U.putLong(t + CURSOR, c + 24);
    }

    @DontInline
    private static void sync(long t, int kind, int site, long object) {
        if ((H.FLAGS & FORCING) != 0) whole(t);
        frames(t);
        H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
        long number = H.U.getAndAddLong(null, H.SEQUENCE, 1);
        append(t, kind, site, H.U.getInt(t + POSITION), object, number);
        // Whoever reads the trace knows that the thread has seen this.
        H.U.putLong(t + MARK, number + 1);
        if (kind >= ACQUIRE && kind <= RESUME_UNNOTIFIED) {
            boolean gives = kind == RELEASE || kind == RELEASE_SHARED || kind == WAIT;
            H.U.putInt(t + HELD, H.U.getInt(t + HELD) + (gives ? -1 : 1));
            if (gives) H.U.putLong(t + STRETCH, H.U.getLong(t + STRETCH) + MIX);
        }
        if (kind == NOTIFY || kind == NOTIFY_ALL || kind == SEND || kind == INITIALIZED) release(t);
        if ((H.FLAGS & FORCING) != 0) forced(t, kind, object);
        if ((H.FLAGS & WITH_NOISE) != 0) noise(t);
    }

    /** In forced runs it is known who holds what. */
    private static void forced(long t, int kind, long object) {
        switch (kind) {
            case ACQUIRE: case RESUME: case RESUME_UNNOTIFIED: got(t, object); break;
            case RELEASE: give(t, object, false); break;
            case WAIT: give(t, object, true); handOver(t); break;
            default: break;
        }
    }

    // ---- methods ----------------------------------------------------------------------------------------------

    /** The call about to be made. */
    public static void call(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) H.U.putInt(t + CALL, site);
    }

    public static void enter(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        push(t, method);
    }

    /**
     * Enters a method in a recording for races: there is a frame only where code outside the program has called it. Where the
     * method of such a frame calls itself, the frame counts.
     */
    public static void enterLightly(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long top = H.U.getLong(t + TOP);
        if (hidden(t)) {
            H.U.putInt(push(t, method) + 28, 0);
        } else if (H.U.getInt(top - FRAME) == method) {
            H.U.putInt(top - FRAME + 28, H.U.getInt(top - FRAME + 28) + 1);
        }
    }

    public static void exitLightly(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) popLightly(t, method);
    }

    public static void exitLightlyThrown(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        caught(t);
        popLightly(t, method);
    }

    @ForceInline
    private static void popLightly(long t, int method) {
        long f = H.U.getLong(t + TOP) - FRAME;
        if (f < H.U.getLong(t + BOTTOM) || H.U.getInt(f) != method) return;
        int more = H.U.getInt(f + 28);
        if (more > 0) {
            H.U.putInt(f + 28, more - 1);
        } else {
            pop(t, method);
        }
    }

    @ForceInline
    private static long push(long t, int method) {
        if ((H.FLAGS & FORCING) != 0) whole(t);
        long f = H.U.getLong(t + TOP);
        if (f == H.U.getLong(t + STACK_LIMIT)) f = grow(t);
        H.U.putInt(f, method);
        H.U.putInt(f + 4, H.U.getInt(t + CALL));
        H.U.putInt(f + 8, H.U.getInt(t + POSITION));
        H.U.putInt(f + 12, H.U.getInt(t + STEP));
        H.U.putLong(f + 16, 0);
        H.U.putInt(t + CALL, 0);
        H.U.putLong(t + TOP, f + FRAME);
        return f;
    }

    /** Enters a synchronized method; its lock is held already. */
    public static void enterLocked(Object lock, int method, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        step(t);
        long object = identity(lock);
        long f = push(t, method);
        H.U.putLong(f + 16, object << 1 | 1);
        H.U.putInt(f + 24, site);
        sync(t, ACQUIRE, site, object);
    }

    /** Enters a class initialiser: whoever happens to run it, its positions do not count. */
    public static void enterInitializer(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        push(t, method);
        H.U.putInt(t + STEP, 0);
    }

    public static void exitInitializer(int method, int type) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        sync(t, INITIALIZED, 0, type);
        // Before anybody can use the class: see recordPlain.
        long number = H.U.getLong(t + MARK);
        long last = H.U.getLongVolatile(null, H.INITIALIZATIONS);
        while (last < number && !H.U.compareAndSetLong(null, H.INITIALIZATIONS, last, number)) {
            last = H.U.getLongVolatile(null, H.INITIALIZATIONS);
        }
        pop(t, method);
    }

    public static void exit(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long f = H.U.getLong(t + TOP) - FRAME;
        if (H.U.getInt(f) == method && H.U.getLong(f + 16) == 0 && H.U.getLong(t + WRITTEN) <= f) {
            H.U.putLong(t + TOP, f);
            return;
        }
        pop(t, method);
    }

    /** Leaves a method by an exception. */
    public static void exitThrown(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        caught(t);
        pop(t, method);
    }

    @DontInline
    private static void pop(long t, int method) {
        long bottom = H.U.getLong(t + BOTTOM);
        long f = H.U.getLong(t + TOP) - FRAME;
        // A StackOverflowError may have cost us an exit: leave what is above as well.
        while (f > bottom && H.U.getInt(f) != method) {
            leave(t, f);
            f -= FRAME;
        }
        if (f < bottom) return;
        if (H.U.getInt(f) == method) leave(t, f);
    }

    private static void leave(long t, long f) {
        H.U.putLong(t + TOP, f + FRAME);
        long lock = H.U.getLong(f + 16);
        if (lock != 0) {
            if ((H.FLAGS & FORCING) != 0) ask(t);
            step(t);
            sync(t, RELEASE, H.U.getInt(f + 24), lock >>> 1);
        }
        if (H.U.getLong(t + WRITTEN) > f) {
            append(t, EXIT, 0, H.U.getInt(t + POSITION), H.U.getInt(f), 0);
            H.U.putLong(t + WRITTEN, f);
            H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
        }
        H.U.putInt(t + STEP, H.U.getInt(f + 12));
        H.U.putLong(t + TOP, f);
    }

    // ---- monitors ---------------------------------------------------------------------------------------------

    public static void acquired(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        step(t);
        sync(t, ACQUIRE, site, identity(lock));
    }

    public static void releasing(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null) return;
        caught(t);
        step(t);
        sync(t, RELEASE, site, identity(lock));
    }

    /** Monitors of tracked JDK objects. */
    public static void jacquired(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t)) return;
        step(t);
        sync(t, ACQUIRE, site, identity(lock));
    }

    public static void jreleasing(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t) || lock == null) return;
        step(t);
        sync(t, RELEASE, site, identity(lock));
    }

    public static void waiting(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null || !Thread.holdsLock(lock)) return;
        step(t);
        long object = identity(lock);
        H.U.putLong(t + WAITING, object << 1 | 1);
        sync(t, WAIT, site, object);
    }

    public static void waited(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long waiting = H.U.getLong(t + WAITING);
        if (waiting == 0) return;
        H.U.putLong(t + WAITING, 0);
        step(t);
        sync(t, RESUME, site, waiting >>> 1);
    }

    /** Stands for {@code wait(long, int)}, whose object cannot be reached on the operand stack. */
    public static void waitNanos(Object lock, long millis, int nanos, int site) throws InterruptedException {
        waiting(lock, site);
        lock.wait(millis, nanos);
        waited(site);
    }

    /** At the start of an exception handler: a wait may have ended by the exception. */
    public static void caught() {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) caught(t);
    }

    @DontInline
    private static void caught(long t) {
        long waiting = H.U.getLong(t + WAITING);
        if (waiting == 0) return;
        H.U.putLong(t + WAITING, 0);
        step(t);
        sync(t, RESUME_UNNOTIFIED, 0, waiting >>> 1);
    }

    public static void notifying(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null) return;
        step(t);
        sync(t, NOTIFY, site, identity(lock));
    }

    public static void notifyingAll(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null) return;
        step(t);
        sync(t, NOTIFY_ALL, site, identity(lock));
    }

    // ---- threads ----------------------------------------------------------------------------------------------

    /** At the start of Thread.start and its kin. */
    public static void starting(Thread child) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || child.ravel$t != 0 || child instanceof jdk.internal.misc.InnocuousThread) return;
        // A pool starts its workers in whichever thread finds it busy: that is no point of the program.
        boolean worker = child instanceof java.util.concurrent.ForkJoinWorkerThread;
        if (!worker) {
            if ((H.FLAGS & FORCING) != 0) ask(t);
            step(t);
        }
        frames(t);
        H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
        release(t);
        fork(t, child, worker);
    }

    /** Virtual threads begin and end in Java code. */
    public static void beginning() {
        Thread thread = Thread.currentThread();
        if (thread.ravel$t != 0) began(thread);
    }

    public static void ending() {
        Thread thread = Thread.currentThread();
        if (thread.ravel$t != 0) ended(thread);
    }

    public static void uncaught(Thread thread, Throwable exception) {
        if (thread.ravel$t != 0) died(thread, exception);
    }

    /** After {@code isAlive}: who sees a thread dead has seen all it did. */
    public static void alive(int result, Thread child) {
        long t = Thread.currentThread().ravel$t;
        if (result != 0 || t == 0 || child.ravel$t == 0 || hidden(t)) return;
        if (H.U.getIntVolatile(null, child.ravel$t + ENDED) == 0) return;
        step(t);
        sync(t, JOIN, H.U.getInt(t + CALL), H.U.getInt(child.ravel$t + THREAD));
    }

    // ---- modelled methods of the JDK ------------------------------------------------------------------------------
    //
    // A model is effect | field << 8; see models.rs, which has the same numbers.

    private static final int LOCK = 1;
    private static final int TRY_LOCK = 2;
    private static final int UNLOCK = 3;
    private static final int LOCK_SHARED = 4;
    private static final int TRY_LOCK_SHARED = 5;
    private static final int UNLOCK_SHARED = 6;
    private static final int AWAIT = 7;
    private static final int SIGNAL = 8;
    private static final int SIGNAL_ALL = 9;
    private static final int SEND_IN = 10;
    private static final int RECEIVE_OUT = 11;
    private static final int RECEIVE_IF = 12;
    private static final int BARRIER = 13;
    private static final int EXCHANGE = 14;
    private static final int GET = 15;
    private static final int SET = 16;
    private static final int UPDATE = 17;
    private static final int COMPARE_AND_SET = 18;
    private static final int MAP_GET = 19;
    private static final int MAP_PUT = 20;
    private static final int MAP_PUT_IF_ABSENT = 21;
    private static final int MAP_REMOVE = 22;
    private static final int MAP_COMPUTE = 30;
    private static final int MAP_REPLACE_IF = 31;
    private static final int QUEUE_PUT = 23;
    private static final int QUEUE_TAKE = 24;
    private static final int QUEUE_LOOK = 25;
    private static final int STATE_READ = 26;
    private static final int STATE_UPDATE = 27;
    private static final int RUN = 29;
    private static final int HIDE = 32;
    private static final int UNLOCK_STAMP = 33;
    private static final int SEND_ARGUMENT = 34;
    private static final int RECEIVE_RESULT = 35;
    private static final int MONITOR = 37;
    private static final int MAP_UPDATE = 38;
    private static final int JOIN_THREAD = 39;
    private static final int INVOKE = 40;

    /** In a model: the argument is a handle of a field of the object. */
    private static final int THROUGH_HANDLE = 1 << 30;

    /** An access through a handle is an access to the field, if it is one of a class that was instrumented. */
    private static int throughHandle(Object holder, Object handle, int model) {
        if (holder == null) return model;
        int number = numbered(handle, System.identityHashCode(handle));
        int field = number < H.handles.length ? H.handles[number] : 0;
        if (field == 0) field = resolve(holder, handle, number);
        if (field < 0) return model;
        int effect = model & 0xFF;
        int direct = effect == MAP_GET ? GET : effect == MAP_REPLACE_IF ? COMPARE_AND_SET : UPDATE;
        return model & ~0xFFFFFF | direct | field << 8;
    }

    @DontInline
    private static int resolve(Object holder, Object handle, int number) {
        int found = holder == handle ? resolveStatic(handle) : -1;
        long offset = holder == handle ? -1 : handleOffset(handle);
        for (Class<?> c = holder.getClass(); c != null && found < 0 && offset >= 0; c = c.getSuperclass()) {
            for (int i = 0; found < 0; i++) {
                String name = fieldName(c, i);
                if (name == null) break;
                if (offsetIn(c, name) == offset) found = fieldNumber(c, i);
            }
        }
        synchronized (H.TABLE) {
            if (number >= H.handles.length) {
                int[] more = new int[2 * number];
                for (int i = 0; i < H.handles.length; i++) more[i] = H.handles[i];
                H.handles = more;
            }
            H.handles[number] = found;
        }
        return found;
    }

    /** The static field that a handle without a holder is for. */
    private static int resolveStatic(Object handle) {
        Object base = referenceIn(handle, "base");
        if (base == null) {
            // One that initialises the class first has the real one inside.
            handle = referenceIn(handle, "target");
            if (handle != null) base = referenceIn(handle, "base");
        }
        if (!(base instanceof Class)) return -1;
        long offset = handleOffset(handle);
        for (int i = -1; offset >= 0; i--) {
            String name = fieldName((Class<?>) base, i);
            if (name == null) break;
            if (offsetIn((Class<?>) base, name) == offset) return fieldNumber((Class<?>) base, i);
        }
        return -1;
    }

    /** Where the field of a handle lies: handles keep it in a field of their own. */
    private static long handleOffset(Object handle) {
        long at = offsetOf(handle, "fieldOffset");
        if (at < 0) at = offsetOf(handle, "offset");
        return at < 0 ? -1 : H.U.getLong(handle, at);
    }

    private static Object referenceIn(Object holder, String name) {
        long at = offsetOf(holder, name);
        return at < 0 ? null : H.U.getReference(holder, at);
    }

    private static long offsetOf(Object holder, String name) {
        long at = -1;
        for (Class<?> c = holder.getClass(); c != null && at < 0; c = c.getSuperclass()) at = offsetIn(c, name);
        return at;
    }

    private static long offsetIn(Class<?> type, String name) {
        try {
            return H.U.objectFieldOffset(type, name);
        } catch (InternalError e) {
            return -1;
        }
    }

    /** The instance fields of a class from 0 on, its static fields from -1 down. */
    private static native String fieldName(Class<?> type, int index);

    private static native int fieldNumber(Class<?> type, int index);

    public static void in(Object self, Object argument, int model) {
        enterModel(self, argument, -1, model);
    }

    /** A modelled method whose key is an index. */
    public static void in(Object self, int index, int model) {
        enterModel(self, null, index, model);
    }

    @DontInline
    private static void enterModel(Object self, Object argument, int index, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long top = H.U.getLong(t + TOP);
        int effect = model & 0xFF;
        boolean outside = top == H.U.getLong(t + BOTTOM);
        // A task that a thread runs while it waits for another is run all the same.
        boolean inside = top == H.U.getLong(t + OPAQUE);
        // How many parts of a task are left is the pool's own affair: what completes it is known from elsewhere.
        boolean pending = self instanceof java.util.concurrent.CountedCompleter && argument instanceof java.lang.invoke.VarHandle;
        if (pending || inside && effect != RUN || outside && (model & 1 << 31) == 0) {
            H.U.putInt(t + NEST, H.U.getInt(t + NEST) + 1);
            return;
        }
        long m = H.U.getLong(t + MODEL);
        if (m == H.U.getLong(t + MODEL_BASE) + MODEL_FRAMES) {
            H.U.putInt(t + NEST, H.U.getInt(t + NEST) + 1);
            return;
        }
        if ((model >>> 8 & 0xFFFF) != 0 && (model & THROUGH_HANDLE) == 0 && untracked(self)) {
            H.U.putInt(t + NEST, H.U.getInt(t + NEST) + 1);
            return;
        }
        // What only hides happens in whichever thread comes first: it is no point of the program.
        boolean point = !outside && !inside && effect != HIDE;
        if (point) {
            if ((H.FLAGS & FORCING) != 0) ask(t);
            step(t);
        }
        long object = self == null ? 0 : identity(self);
        if ((model & THROUGH_HANDLE) != 0) {
            model = throughHandle(self, argument, model);
            effect = model & 0xFF;
            // The field may be a volatile one that others read in the usual way.
            if (effect != GET && effect != MAP_GET) {
                writing(model >>> 8 & 0xFFFF, H.U.getAndAddLong(null, H.SEQUENCE, 1));
            }
        }
        boolean alone = (model >>> 8 & 0xFFFF) != 0;
        if ((model & THROUGH_HANDLE) != 0 && self == argument && effect != MAP_GET && effect != MAP_REPLACE_IF && effect != MAP_UPDATE) {
            object = 0;
            alone = aloneInStatic(t, model >>> 8 & 0xFFFF);
        } else if (alone) {
            alone = aloneIn(t, self);
        }
        long extra = 0;
        int site = H.U.getInt(t + CALL);
        switch (effect) {
            case LOCK: if ((H.FLAGS & FORCING) != 0) want(t, object); break;
            case UNLOCK: sync(t, RELEASE, site, object); break;
            case UNLOCK_SHARED: sync(t, RELEASE_SHARED, site, object); break;
            case AWAIT: sync(t, WAIT, site, object); break;
            case SIGNAL: sync(t, NOTIFY, site, object); break;
            case SIGNAL_ALL: sync(t, NOTIFY_ALL, site, object); break;
            case SEND_IN: case EXCHANGE: sync(t, SEND, site, object); break;
            case BARRIER:
                sync(t, SEND, site, object);
                // The last to come may run an action for all.
                sync(t, RECEIVE, site, object);
                break;
            case RUN: sync(t, RECEIVE, site, object); break;
            case MONITOR: sync(t, ACQUIRE, site, object); break;
            case JOIN_THREAD: extra = ((Thread) argument).ravel$t; break;
            case SET: case STATE_UPDATE: extra = H.U.getAndAddLong(null, H.SEQUENCE, 1); break;
            case MAP_GET: case MAP_PUT: case MAP_PUT_IF_ABSENT: case MAP_REMOVE: case MAP_COMPUTE: case MAP_REPLACE_IF: case MAP_UPDATE:
                extra = index >= 0 ? index : key(argument);
                break;
            case QUEUE_PUT: case SEND_ARGUMENT: case INVOKE:
                if (argument != null) sync(t, SEND, site, extra = identity(argument));
                break;
            default: break;
        }
        H.U.putInt(m, model);
        H.U.putInt(m + 4, H.U.getInt(t + NEST));
        H.U.putLong(m + 8, H.U.getLong(t + OPAQUE));
        H.U.putLong(m + 16, object);
        H.U.putLong(m + 24, extra);
        H.U.putInt(m + 32, site);
        H.U.putInt(m + 36, alone ? 1 : 0);
        H.U.putLong(t + MODEL, m + MODEL_FRAME);
        H.U.putInt(t + NEST, 0);
        if (point && mayBlock(effect)) handOver(t);
        H.U.putLong(t + OPAQUE, effect == RUN ? 0 : effect == MONITOR ? H.U.getLong(t + OPAQUE) : top);
    }

    /** Whether the JDK made an object for itself, where nothing is tracked. */
    private static boolean untracked(Object o) {
        int offset = H.U.getInt(o.getClass(), H.CLASS_WORD);
        if (offset == 0) offset = offset(o.getClass());
        return offset > 0 && H.U.getLong(o, (long) offset) == 0;
    }

    /** Whether no other thread has used an object so far, or the JDK made it for itself. */
    private static boolean aloneIn(long t, Object o) {
        int offset = H.U.getInt(o.getClass(), H.CLASS_WORD);
        if (offset <= 0) return false;
        long w = H.U.getLong(o, (long) offset);
        if (((int) w & OWNER_BITS) == H.U.getInt(t + TAG)) return true;
        return (share(t, o, w, H.U.getInt(t + POSITION)) & 1) == 0;
    }

    /** The same of a static field. */
    private static boolean aloneInStatic(long t, int field) {
        long owner = H.STATICS + 4L * (SITE + 1 + field);
        int tag = H.U.getInt(owner);
        if (tag == H.U.getInt(t + TAG)) return true;
        if (tag == 0 && H.U.getInt(t + THREAD) == 0 && (H.FLAGS & KEEP_UNSHARED) == 0) {
            H.U.putInt(owner, H.U.getInt(t + TAG));
            return true;
        }
        if ((tag & 1) == 0) H.U.putInt(owner, 1);
        return false;
    }

    /** A modelled method that takes a long: only the stamp of StampedLock. */
    public static void in(Object self, long stamp, int model) {
        in(self, null, (model & 0xFF) != UNLOCK_STAMP ? model
                : model & ~0xFF | ((stamp & 0x80) != 0 ? UNLOCK : UNLOCK_SHARED));
    }

    private static long key(Object key) {
        if (key == null) return 0;
        Class<?> type = key.getClass();
        if (type == String.class || type == Integer.class || type == Long.class) return key.hashCode() & 0xFFFFFFFFL;
        return identity(key) & 0xFFFFFFFFL;
    }

    public static void out(int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, true, null, 0);
    }

    public static void out(int result, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, result != 0, null, result);
    }

    public static void out(long result, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, result > 0, null, result);
    }

    public static void out(Object result, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, result != null, result, 0);
    }

    public static void outThrown(Throwable thrown, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long m = leaveModel(t);
        if (m == 0) return;
        int site = H.U.getInt(m + 32);
        long object = H.U.getLong(m + 16);
        switch (model & 0xFF) {
            case AWAIT: step(t); sync(t, RESUME_UNNOTIFIED, site, object); break;
            case MONITOR: step(t); sync(t, RELEASE, site, object); break;
            case RUN: ran(t, site); break;
            case RECEIVE_OUT:
                if (thrown instanceof java.util.concurrent.ExecutionException
                        || thrown instanceof java.util.concurrent.CompletionException) {
                    sync(t, RECEIVE, site, object);
                }
                break;
            default: break;
        }
    }

    /** The end of a task: whoever waits until its pool has nothing left to do has seen what it did. */
    private static void ran(long t, int site) {
        Thread thread = Thread.currentThread();
        if (thread instanceof java.util.concurrent.ForkJoinWorkerThread) {
            sync(t, SEND, site, identity(((java.util.concurrent.ForkJoinWorkerThread) thread).getPool()));
        }
    }

    /** What completed these futures (or tasks, or several of them) was done before this point. */
    public static void heard(Object one, Object other) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        hear(t, one);
        hear(t, other);
    }

    private static void hear(long t, Object future) {
        if (future == null) return;
        if (future instanceof Object[]) {
            Object[] all = (Object[]) future;
            for (int i = 0; i < all.length; i++) hear(t, all[i]);
        } else if (future instanceof java.util.List) {
            java.util.List<?> all = (java.util.List<?>) future;
            for (int i = 0; i < all.size(); i++) hear(t, all.get(i));
        } else {
            sync(t, RECEIVE, H.U.getInt(t + CALL), identity(future));
        }
    }

    /** A task is about to be done. */
    public static void told(Object task) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) sync(t, SEND, H.U.getInt(t + CALL), identity(task));
    }

    /** A part of a tree of tasks is done: whoever completes the next one, or waits for the root, has seen it. */
    public static void completing(Object task) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long root = identity(((java.util.concurrent.CountedCompleter<?>) task).getRoot());
        int site = H.U.getInt(t + CALL);
        sync(t, SEND, site, root);
        sync(t, RECEIVE, site, root);
    }

    /** At the start of a handler: who is interrupted has seen what the interrupter did before. */
    public static void interrupted(Throwable thrown) {
        if (!(thrown instanceof InterruptedException)) return;
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (t != 0) sync(t, RECEIVE, H.U.getInt(t + CALL), identity(thread));
    }

    /** Pops the model stack; 0 if the method was not recorded. */
    private static long leaveModel(long t) {
        int nest = H.U.getInt(t + NEST);
        if (nest > 0) {
            H.U.putInt(t + NEST, nest - 1);
            return 0;
        }
        long m = H.U.getLong(t + MODEL);
        if (m == H.U.getLong(t + MODEL_BASE)) return 0;
        m -= MODEL_FRAME;
        H.U.putLong(t + MODEL, m);
        H.U.putInt(t + NEST, H.U.getInt(m + 4));
        H.U.putLong(t + OPAQUE, H.U.getLong(m + 8));
        return m;
    }

    @DontInline
    private static void out(long t, int model, boolean yes, Object result, long value) {
        long m = leaveModel(t);
        if (m == 0) return;
        model = H.U.getInt(m);
        int site = H.U.getInt(m + 32);
        long object = H.U.getLong(m + 16);
        long extra = H.U.getLong(m + 24);
        long state = H.U.getInt(m + 36) != 0 ? 0 : (long) (model >>> 8 & 0xFFFF) << 48 | object;
        switch (model & 0xFF) {
            case LOCK: sync(t, ACQUIRE, site, object); break;
            case JOIN_THREAD:
                if (extra != 0 && H.U.getIntVolatile(null, extra + ENDED) != 0) sync(t, JOIN, site, H.U.getInt(extra + THREAD));
                break;
            case MONITOR: step(t); sync(t, RELEASE, site, object); break;
            case TRY_LOCK: if (yes) sync(t, ACQUIRE, site, object); break;
            case LOCK_SHARED: sync(t, ACQUIRE_SHARED, site, object); break;
            case TRY_LOCK_SHARED: if (yes) sync(t, ACQUIRE_SHARED, site, object); break;
            case AWAIT: step(t); sync(t, yes ? RESUME : RESUME_UNNOTIFIED, site, object); break;
            case RECEIVE_OUT: case BARRIER: case EXCHANGE: sync(t, RECEIVE, site, object); break;
            case INVOKE: if (extra != 0) sync(t, RECEIVE, site, extra); break;
            case RECEIVE_IF: if (yes) sync(t, RECEIVE, site, object); break;
            case RECEIVE_RESULT: if (result != null) sync(t, RECEIVE, site, identity(result)); break;
            case RUN: ran(t, site); break;
            case GET: case STATE_READ: state(t, READ_STATE, site, state, value); break;
            case SET: state(t, WRITE_STATE, site, state, 0, extra); break;
            case STATE_UPDATE: state(t, UPDATE_STATE, site, state, 0, extra); break;
            case UPDATE: state(t, UPDATE_STATE, site, state, value); break;
            case COMPARE_AND_SET: state(t, yes ? UPDATE_STATE : READ_STATE, site, state, value); break;
            case MAP_GET: state(t, READ_ENTRY, site, state, extra); break;
            case MAP_PUT: entry(t, site, state, extra, true, !yes); break;
            case MAP_PUT_IF_ABSENT: entry(t, site, state, extra, !yes, !yes); break;
            case MAP_REMOVE: entry(t, site, state, extra, yes, yes); break;
            case MAP_REPLACE_IF: entry(t, site, state, extra, yes, false); break;
            case MAP_UPDATE: entry(t, site, state, extra, true, false); break;
            case MAP_COMPUTE: entry(t, site, state, extra, true, true); break;
            case QUEUE_PUT: if (yes) state(t, UPDATE_STATE, site, state, 0); break;
            case QUEUE_TAKE:
                if (result != null) sync(t, RECEIVE, site, identity(result));
                state(t, yes ? UPDATE_STATE : READ_STATE, site, state, 0);
                break;
            case QUEUE_LOOK:
                if (result != null) sync(t, RECEIVE, site, identity(result));
                state(t, READ_STATE, site, state, 0);
                break;
            default: break;
        }
    }

    /** An access to one entry of a map; {@code size} if the number of entries changed too (state field + 1). */
    private static void entry(long t, int site, long state, long key, boolean update, boolean size) {
        if (state == 0) return;
        state(t, update ? READ_ENTRY + 2 : READ_ENTRY, site, state, key);
        if (size) state(t, UPDATE_STATE, site, state + (1L << 48), 0);
    }

    private static void state(long t, int kind, int site, long state, long value) {
        if (state == 0 || H.U.getLong(t + TOP) == H.U.getLong(t + BOTTOM)) return;
        int p = H.U.getInt(t + POSITION);
        if (kind == READ_STATE || kind == READ_ENTRY) {
            H.U.putInt(t + SEGMENT, H.U.getInt(t + SEGMENT) + 1);
            record(t, kind, site, p, state, value);
        } else {
            stamped(t, kind, site, p, state, value, H.U.getAndAddLong(null, H.SEQUENCE, 1));
        }
    }

    private static void state(long t, int kind, int site, long state, long value, long stamp) {
        if (state == 0 || H.U.getLong(t + TOP) == H.U.getLong(t + BOTTOM)) return;
        stamped(t, kind, site, H.U.getInt(t + POSITION), state, value, stamp);
    }

    // ---- what reflection must not see -----------------------------------------------------------------------------

    public static java.lang.reflect.Field[] visible(java.lang.reflect.Field[] fields) {
        int hidden = 0;
        for (int i = 0; i < fields.length; i++) if (fields[i].getName().startsWith("ravel$")) hidden++;
        if (hidden == 0) return fields;
        java.lang.reflect.Field[] rest = new java.lang.reflect.Field[fields.length - hidden];
        int n = 0;
        for (int i = 0; i < fields.length; i++) if (!fields[i].getName().startsWith("ravel$")) rest[n++] = fields[i];
        return rest;
    }

    // ---- forced runs ----------------------------------------------------------------------------------------------

    /** Before a point that is in no run or the first of one, in forced runs only. */
    public static void alone(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        ask(t);
    }

    /** Before another point of a run, in forced runs only. */
    public static void point(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if (H.U.getInt(t + POSITION) - H.U.getInt(t + GATE) >= 0) gate(t);
    }

    /** Before a monitor is entered, in forced runs only. */
    public static void lockPoint(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        ask(t);
        if (lock != null) want(t, identity(lock));
    }

    /** Enters a method that was synchronized before it was changed for a forced run. */
    public static void enterForced(Object lock, int method, int site) {
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (t != 0) {
            ask(t);
            want(t, identity(lock));
        }
        lock(lock);
        push(thread, lock);
        enterLocked(lock, method, site);
    }

    private static void push(Thread thread, Object lock) {
        Object[] locks = thread.ravel$l;
        int depth = thread.ravel$d;
        if (locks == null || depth == locks.length) {
            Object[] more = new Object[depth == 0 ? 16 : 2 * depth];
            for (int i = 0; i < depth; i++) more[i] = locks[i];
            thread.ravel$l = locks = more;
        }
        locks[depth] = lock;
        thread.ravel$d = depth + 1;
    }

    private static Object taken(Thread thread) {
        int depth = thread.ravel$d - 1;
        Object lock = thread.ravel$l[depth];
        thread.ravel$l[depth] = null;
        thread.ravel$d = depth;
        return lock;
    }

    /** Leaves such a method. */
    public static void exitForced(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) pop(t, method);
        unlock();
    }

    public static void exitForcedThrown(int method) {
        exitThrown(method);
        unlock();
    }

    private static void unlock() {
        unlock(taken(Thread.currentThread()));
    }

    // What a method returns, in forced runs only; it is no point.

    public static void returned(int v, int site) {
        returned((long) v, site);
    }

    public static void returned(long v, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) record(t, WRITE, site, H.U.getInt(t + POSITION), 0, v);
    }

    public static void returned(float v, int site) {
        returned((long) Float.floatToRawIntBits(v), site);
    }

    public static void returned(double v, int site) {
        returned(Double.doubleToRawLongBits(v), site);
    }

    /** Of objects only those tell more than null or not null that mean the same in another run. */
    public static void returned(Object v, int site) {
        long value = reference(v);
        if (v instanceof String) value = 2L << 32 | v.hashCode() & 0xFFFFFFFFL;
        else if (v instanceof Integer || v instanceof Long) value = 3L << 32 ^ ((Number) v).longValue();
        else if (v instanceof Boolean) value = (Boolean) v ? 5 : 4;
        else if (v instanceof Enum) value = 4L << 32 | ((Enum<?>) v).ordinal();
        returned(value, site);
    }

    /** Waits for the thread's turn if the next point is beyond what it may do now. */
    @ForceInline
    private static void ask(long t) {
        whole(t);
        if (H.U.getInt(t + POSITION) - H.U.getInt(t + GATE) >= 0) gate(t);
    }

    /**
     * Whether a modelled method may wait for another thread as a matter of course. Others keep the turn until they are
     * done; a lock hands over by itself when it is taken.
     */
    private static boolean mayBlock(int effect) {
        switch (effect) {
            case RECEIVE_OUT: case RECEIVE_IF: case BARRIER: case EXCHANGE: case JOIN_THREAD: case INVOKE: return true;
            default: return false;
        }
    }

    /** Before something that may block: the next thread need not wait for this one. */
    @ForceInline
    private static void handOver(long t) {
        if ((H.FLAGS & FORCING) != 0 && H.U.getInt(t + POSITION) - H.U.getInt(t + GATE) >= 0) next(t);
    }

    /** Before a collection of the JDK takes a lock. */
    public static void beforeLock(Object lock) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t) || lock == null) return;
        ask(t);
        want(t, identity(lock));
    }

    /** Before the lock of a collection's method that was synchronized before it was changed for a forced run. */
    public static void beforeMonitor(Object lock) {
        Thread thread = Thread.currentThread();
        beforeLock(lock);
        push(thread, lock);
    }

    /** The lock to give up at the end of such a method. */
    public static Object afterMonitor() {
        return taken(Thread.currentThread());
    }

    /** The same in a collection of the JDK. */
    public static void jpoint(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || hidden(t)) return;
        ask(t);
    }

    // ---- chance and time: called only when they are to be the same in every run ------------------------------------

    /** Stands for what would make every seed different from the others. */
    public static long zero() {
        return 0;
    }

    /** A seed. */
    public static long chance() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? System.nanoTime() : chance(t, 0);
    }

    /** The seed of a thread's own generator. */
    public static long local(java.util.concurrent.atomic.AtomicLong seeder, long step) {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? seeder.getAndAdd(step) : chance(t, 2);
    }

    /** The seed of a generator that can be split. */
    public static long splittable(java.util.concurrent.atomic.AtomicLong seeder, long step) {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? seeder.getAndAdd(step) : chance(t, 3);
    }

    /** The seed of a generator of random numbers: nobody's state, and no point of the program. */
    public static long seed(java.util.concurrent.atomic.AtomicLong seed) {
        return Thread.currentThread().ravel$t == 0 ? seed.get() : H.U.getLongVolatile(seed, H.SEED);
    }

    public static boolean moveSeed(java.util.concurrent.atomic.AtomicLong seed, long from, long to) {
        return Thread.currentThread().ravel$t == 0 ? seed.compareAndSet(from, to) : H.U.compareAndSetLong(seed, H.SEED, from, to);
    }

    /** Stands for the generator that all threads share. */
    public static double random(java.util.Random shared) {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? shared.nextDouble() : (chance(t, 1) >>> 11) * 0x1.0p-53;
    }

    public static long nanos() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? System.nanoTime() : clock(t, 0);
    }

    public static long millis() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? System.currentTimeMillis() : clock(t, 1);
    }

    /** Stands for {@code VM.getNanoTimeAdjustment}: nanoseconds from a second to now. */
    public static long adjustment(long second) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return jdk.internal.misc.VM.getNanoTimeAdjustment(second);
        long wall = clock(t, 2);
        long away = wall / 1_000_000_000L - second;
        return away > 1L << 32 || away < -(1L << 32) ? -1 : away * 1_000_000_000L + wall % 1_000_000_000L;
    }

    public static void sleep(long millis) throws InterruptedException {
        timedMillis(millis);
        Thread.sleep(millis);
    }

    public static void sleep(long millis, int nanos) throws InterruptedException {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && millis < Long.MAX_VALUE / 1_000_000) timed(t, millis * 1_000_000 + nanos, true);
        Thread.sleep(millis, nanos);
    }

    /** Before the JDK waits for what is left of a time. */
    public static void timed(long nanos) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) timed(t, nanos, false);
    }

    /** Before the program waits so long at most. */
    public static void timedMillis(long millis) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && millis < Long.MAX_VALUE / 1_000_000) timed(t, millis * 1_000_000, true);
    }
}
