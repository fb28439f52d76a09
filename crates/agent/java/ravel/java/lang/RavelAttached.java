package java.lang;

import static java.lang.RavelLayout.Attached.*;
import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Channel.*;
import static java.lang.RavelLayout.Hash.MIX;

import java.lang.RavelLayout.Address;
import java.lang.RavelLayout.Effect;
import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Model;
import java.lang.RavelLayout.RawRecord;
import java.lang.RavelLayout.SiteFlag;
import java.lang.RavelLayout.Size;
import java.lang.RavelLayout.Tag;
import java.lang.RavelLayout.Word;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * What is different in a JVM that was running before Ravel came. Threads and objects have no added fields there, so tables stand in for
 * them: by the id of the thread, and by identity hash. The agent replaces the accesses to the added fields, and calls of some methods of
 * the other helper classes, by calls of the methods here, in the helper classes and in what it changes; see {@code substitute.rs}.
 *
 * <p>What orders threads is told twice here: as itself, and into one channel for all, so that a thread that hears from that channel comes
 * after everything that was recorded before. Why that is needed stands in {@code attach/mod.rs}.
 */
public final class RavelAttached {
    private RavelAttached() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");
    /** For each thread by its id: the address of its block (0: not known yet, 1: not recorded), then its number and one. */
    private static final long THREADS = Ravel.address(Address.THREADS);
    /** 0: nothing is recorded. Odd: threads may order each other unseen. It grows with every change. */
    private static final long MODE = Ravel.address(Address.MODE);
    private static final long OWNERS = Ravel.address(Address.OWNERS);
    private static final long BLOCKS = Ravel.address(Address.BLOCKS);
    private static final long SITES = Ravel.address(Address.SITES);
    private static final long STATICS = Ravel.address(Address.STATICS);

    // Threads.

    /** Stands for the field that has the address of a thread's block. */
    static long block(Thread thread) {
        long tid = U.getLong(thread, TID);
        if (tid >>> THREAD_BITS != 0) return 0;
        long slot = THREADS + (tid << 4);
        long t = U.getLong(slot);
        return t > 1 ? t : t == 0 && U.getInt(MODE) != 0 ? admit(thread, slot) : 0;
    }

    /** A thread comes to a hook for the first time, or was not yet to be recorded. */
    @DontInline
    private static long admit(Thread thread, long slot) {
        if (thread != Thread.currentThread()) return 0;
        // What the agent asks meanwhile may come to hooks too.
        U.putLong(slot, 1);
        long t = Ravel.admit(thread);
        U.putLong(slot, t);
        if (t <= 1) return 0;
        U.putInt(t + HEARD, U.getIntVolatile(null, MODE));
        RavelRecords.sync(t, Kind.RECEIVE, 0, ALL);
        return t;
    }

    /** Stands for a write to the field: 0 is a thread that is not recorded for the moment. */
    static void setBlock(Thread thread, long t) {
        long tid = U.getLong(thread, TID);
        if (tid >>> THREAD_BITS == 0) U.putLong(THREADS + (tid << 4), t == 0 ? 1 : t);
    }

    /** Stands for the field that has the number of a thread and one. */
    static int number(Thread thread) {
        long tid = U.getLong(thread, TID);
        return tid >>> THREAD_BITS == 0 ? U.getInt(THREADS + (tid << 4) + 8) : 0;
    }

    /** A thread that was never recorded may have ended all the same: see sync. */
    static boolean hasEnded(int number) {
        return number <= 0 || RavelThreads.hasEnded(number);
    }

    // Objects.

    /** Stands for the word of an object in an access to a field that orders nothing. */
    public static long word(Object o) {
        long t = block(Thread.currentThread());
        if (t == 0) return 0;
        int hash = System.identityHashCode(o);
        int mine = U.getInt(t + TAG);
        if (own(hash, mine)) return mine;
        return (long) RavelObjects.numbered(o, hash) << Word.ID | 1;
    }

    /** The same in an access that may order threads, which is recorded whoever has the object. */
    public static long sharedWord(Object o) {
        if (block(Thread.currentThread()) == 0) return 0;
        int hash = System.identityHashCode(o);
        U.putLong(OWNERS + ((long) (hash & Size.OWNERS - 1) << 3), (long) hash << 32 | 1);
        return (long) RavelObjects.numbered(o, hash) << Word.ID | 1;
    }

    /**
     * Whether the object with this hash has been used by this thread alone since it was last looked up. An object that shares its slot with another may
     * be forgotten, and then accesses to it are left out until a second thread comes. Objects with one hash share an owner here, but have
     * numbers of their own once they are shared.
     */
    private static boolean own(int hash, int mine) {
        long slot = OWNERS + ((long) (hash & Size.OWNERS - 1) << 3);
        long entry = U.getLong(slot);
        if ((int) (entry >>> 32) != hash) {
            if (mine == Tag.LATE) return false;
            U.putLong(slot, (long) hash << 32 | mine);
            return true;
        }
        if ((int) entry == mine) return true;
        if ((int) entry != 1) {
            U.putLong(slot, (long) hash << 32 | 1);
            // It may have left elements of an array out as its own.
            long owner = U.getLong(BLOCKS + (((int) entry & Word.OWNER) >>> 1 << 3));
            if (owner != 0) U.getAndAddLong(null, owner + SHAKEN, MIX);
        }
        return false;
    }

    /** The recording is over: lets the objects go. */
    static void forget() {
        RavelObjects.Ref[] table = RavelTables.TABLE;
        synchronized (table) {
            for (int i = 0; i < table.length; i++) table[i] = null;
        }
    }

    /** Stands for {@code RavelArrays.find}. */
    static long find(long t, Object a, int hash) {
        int mine = U.getInt(t + TAG);
        return own(hash, mine) ? mine : (long) RavelObjects.numbered(a, hash) << 32 | 1;
    }

    /** Stands for {@code RavelObjects.identity}. */
    static long identity(Object o) {
        long number = RavelObjects.numbered(o, System.identityHashCode(o));
        return o.getClass().isArray() ? RawRecord.TABLE_OBJECT | number : number;
    }

    /** Stands for {@code aloneIn} of objects and arrays: what orders threads is recorded whoever has the object. */
    static boolean aloneIn(long t, Object o) {
        return false;
    }

    /** Stands for {@code RavelObjects.untracked}. */
    static boolean untracked(Object o) {
        return false;
    }

    /** Stands for {@code RavelObjects.offset}: no object has a word. */
    static int offset(Class<?> type) {
        return -1;
    }

    /** Stands for {@code born} and {@code jborn}. */
    public static long born() {
        return 0;
    }

    /** Stands for the write of the word of a new object. */
    public static void drop(Object o, long word) {}

    /** Stands for {@code RavelRepeats.settle}: there is no word to keep a claim in. */
    static int settle(long t, boolean write, int site, long group, int claim) {
        return claim;
    }

    /** Stands for {@code RavelRepeats.seenBefore}: code that is not changed may have written the field. */
    static boolean seenBefore(long t, long object, int site, int writes) {
        return false;
    }

    // What orders threads.

    /** Stands for {@code RavelRecords.sync}. */
    @DontInline
    static void sync(long t, int kind, int site, long object) {
        switch (kind) {
            case Kind.RELEASE: case Kind.WAIT:
                tell(t);
                RavelRecords.sync(t, Kind.SEND, 0, object);
                RavelRecords.sync(t, kind, site, object);
                break;
            case Kind.RELEASE_SHARED:
                tell(t);
                RavelRecords.sync(t, Kind.SEND, 0, readers(object));
                RavelRecords.sync(t, kind, site, object);
                break;
            case Kind.ACQUIRE: case Kind.RESUME: case Kind.RESUME_UNNOTIFIED:
                RavelRecords.sync(t, kind, site, object);
                RavelRecords.sync(t, Kind.RECEIVE, 0, object);
                RavelRecords.sync(t, Kind.RECEIVE, 0, readers(object));
                hear(t);
                break;
            case Kind.ACQUIRE_SHARED:
                RavelRecords.sync(t, kind, site, object);
                RavelRecords.sync(t, Kind.RECEIVE, 0, object);
                hear(t);
                break;
            case Kind.JOIN: case Kind.JOIN_LIMITED:
                // A thread without a number may have passed on what it heard before it could be recorded.
                if (object < 0) RavelRecords.sync(t, Kind.RECEIVE, 0, ALL);
                else RavelRecords.sync(t, kind, site, object);
                hear(t);
                break;
            case Kind.RECEIVE:
                RavelRecords.sync(t, kind, site, object);
                hear(t);
                break;
            default:
                tell(t);
                RavelRecords.sync(t, kind, site, object);
                break;
        }
    }

    private static long readers(long object) {
        return READERS | object & (1L << 29) - 1;
    }

    /** Before the thread orders something after itself. */
    private static void tell(long t) {
        RavelRecords.sync(t, Kind.SEND, 0, ALL);
    }

    /** After the thread has come after something: if threads may order each other unseen, it may have come after anything. */
    private static void hear(long t) {
        int mode = U.getIntVolatile(null, MODE);
        if ((mode & 1) == 0 && mode == U.getInt(t + HEARD)) return;
        U.putInt(t + HEARD, mode);
        RavelRecords.sync(t, Kind.RECEIVE, 0, ALL);
    }

    /** Stands for {@code RavelRecords.stamped}. */
    static void stamped(long t, int kind, int site, int p, long a, long b, long stamp) {
        RavelRecords.stamped(t, kind, site, p, a, b, stamp);
        if (kind != Kind.WRITE && kind != Kind.WRITE_STATE) hear(t);
    }

    /** Stands for {@code RavelRecords.record} where it is called for a read that may order threads. */
    static void record(long t, int kind, int site, int p, long a, long b) {
        RavelRecords.record(t, kind, site, p, a, b);
        hear(t);
    }

    /** Stands for {@code RavelFields.stamp}. */
    public static void stamp(int site) {
        long t = block(Thread.currentThread());
        if (t == 0) return;
        if ((U.getByte(SITES + site) & SiteFlag.VOLATILE) != 0) tell(t);
        RavelFields.stamp(site);
    }

    /** Stands for {@code RavelModels.in}. What the method does to others is told before it can be seen. */
    public static void in(Object self, Object argument, int model) {
        long t = block(Thread.currentThread());
        if (t != 0) entering(t, model);
        if ((model & Model.EFFECT) == Effect.SEND && self instanceof Thread && t != 0) Ravel.interrupting((Thread) self);
        RavelModels.in(self, argument, model);
    }

    public static void in(Object self, int index, int model) {
        long t = block(Thread.currentThread());
        if (t != 0) entering(t, model);
        RavelModels.in(self, index, model);
    }

    public static void in(Object self, long number, int model) {
        long t = block(Thread.currentThread());
        if (t != 0) entering(t, model);
        RavelModels.in(self, number, model);
    }

    private static void entering(long t, int model) {
        if (U.getLong(t + TOP) == U.getLong(t + OPAQUE)) return;
        switch (model & Model.EFFECT) {
            case Effect.SET: case Effect.UPDATE: case Effect.COMPARE_AND_SET: case Effect.MAP_PUT: case Effect.MAP_PUT_IF_ABSENT:
            case Effect.MAP_REMOVE: case Effect.MAP_COMPUTE: case Effect.MAP_REPLACE_IF: case Effect.MAP_UPDATE: case Effect.QUEUE_PUT:
            case Effect.QUEUE_TAKE: case Effect.STATE_UPDATE:
                tell(t);
                break;
            default: break;
        }
    }

    // Threads with code on their stack that was entered before Ravel came, and that may order threads. The methods that such code calls are
    // recorded, between what was heard before the first access and what is told after the last.

    /** Stands for {@code RavelRecords.recordPlain}. */
    static void recordPlain(long t, int kind, int site, int p, long a, long b) {
        if (U.getInt(t + UNSEEN) == 0) {
            RavelRecords.recordPlain(t, kind, site, p, a, b);
            return;
        }
        if (U.getInt(t + UNTOLD) == 0) {
            U.putInt(t + UNTOLD, 1);
            RavelRecords.sync(t, Kind.RECEIVE, 0, ALL);
        }
        RavelRecords.recordPlain(t, kind, site, p, a, b);
        left(t);
    }

    /** Stands for {@code RavelMethods.exit}. */
    public static void exit(int method) {
        RavelMethods.exit(method);
        left(block(Thread.currentThread()));
    }

    public static void exitThrown(int method) {
        RavelMethods.exitThrown(method);
        left(block(Thread.currentThread()));
    }

    public static void exitInitializer(int method, int type) {
        RavelMethods.exitInitializer(method, type);
        left(block(Thread.currentThread()));
    }

    private static void left(long t) {
        if (t != 0 && U.getInt(t + UNTOLD) != 0 && U.getLong(t + TOP) == U.getLong(t + BOTTOM)) {
            U.putInt(t + UNTOLD, 0);
            tell(t);
        }
    }
}
