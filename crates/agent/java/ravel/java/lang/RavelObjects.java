package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.RawRecord;
import java.lang.RavelLayout.Tag;
import java.lang.RavelLayout.Word;
import java.lang.ref.WeakReference;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The identity of objects, and which thread has an object alone.
 *
 * <p>An object of an instrumented class has a word: {@code named << 63 | id << 21 | owner << 1 | shared}. The owner is the only thread
 * that has touched it so far; in a shared object these bits hold a claim, see {@link RavelRepeats#settle}. Word 0 is "not yet
 * numbered" in application objects and "not tracked" in JDK objects.
 */
public final class RavelObjects {
    private RavelObjects() {}

    /** The number of an object that has no word. */
    static final class Ref extends WeakReference<Object> {
        final int number;
        final int hash;
        final Ref next;

        Ref(Object object, int number, int hash, Ref next) {
            super(object);
            this.number = number;
            this.hash = hash;
            this.next = next;
        }

        boolean isTo(Object object) {
            return RELEASE < 16 ? get() == object : refersTo(object);
        }
    }

    /** The word of a JDK object being made. */
    public static long jborn() {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || RavelMethods.hidden(t)) return 0;
        return word(t);
    }

    /** The word of an application object being made. */
    public static long born() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? 0 : word(t);
    }

    /**
     * After a new object has got its word, where processors may show a later store before an earlier one: a thread that gets the object
     * without synchronisation finds the word.
     */
    public static void shown() {
        if (Thread.currentThread().ravel$t != 0) RavelFences.stores();
    }

    @ForceInline
    private static long word(long t) {
        long id = U.getLong(t + NEXT_ID);
        if (id == U.getLong(t + LAST_ID)) id = Ravel.ids(t);
        U.putLong(t + NEXT_ID, id + 1);
        int tag = U.getInt(t + TAG);
        return id << Word.ID | ((FLAGS & KEEP_UNSHARED) != 0 || tag == Tag.LATE ? 1 : tag);
    }

    /** A reference as the trace keeps it: 0 for null, a digest of what means the same in another run, 1 for all other objects. */
    @ForceInline
    static long reference(Object v) {
        return v == null ? 0 : value(v);
    }

    @DontInline
    private static long value(Object v) {
        long digest = digest(v);
        // Before the VM is initialised there are no flags either.
        if (Thread.currentThread().ravel$t == 0) return digest;
        return (FLAGS & (FORCING | SEARCHING)) == FORCING ? RavelWords.told(v, digest) : digest;
    }

    /** Of longer strings the length alone counts: to hash them takes time. */
    private static final int HASHED = 1 << 12;

    private static long digest(Object v) {
        Class<?> type = v.getClass();
        if (type == String.class) {
            int length = ((String) v).length();
            return 2L << 32 | (length <= HASHED ? v.hashCode() : length) & 0xFFFFFFFFL;
        }
        if (type == Integer.class || type == Long.class || type == Short.class || type == Byte.class) {
            return 3L << 32 ^ ((Number) v).longValue();
        }
        if (type == Boolean.class) return (Boolean) v ? 5 : 4;
        if (type == Character.class) return 4L << 32 | (Character) v;
        if (v instanceof Enum) return 5L << 32 | ((Enum<?>) v).ordinal();
        if (type == Double.class || type == Float.class || v instanceof Number && type.getName().startsWith("java.math.Big")) {
            return 6L << 32 | v.hashCode() & 0xFFFFFFFFL;
        }
        return 1;
    }

    /** The number of any object: its word's, or one from the table. */
    static long identity(Object o) {
        int offset = U.getInt(o.getClass(), CLASS_WORD);
        if (offset == 0) offset = offset(o.getClass());
        if (offset > 0) {
            long w = U.getLong(o, (long) offset);
            if (w >= 0) w = named(o, (long) offset);
            return id(w);
        }
        return RawRecord.TABLE_OBJECT | numbered(o, System.identityHashCode(o)) & 0xFFFFFFFFL;
    }

    @ForceInline
    static long id(long w) {
        return w << 1 >>> Word.ID + 1;
    }

    /** Tells the trace the class of an object that is used as more than a holder of fields; bit 63 of its word says so. */
    @DontInline
    private static long named(Object o, long offset) {
        long w = U.getLongVolatile(o, offset);
        while (w >= 0) {
            long next = (id(w) == 0 ? word(Thread.currentThread().ravel$t) : w) | 1L << 63;
            if (U.compareAndSetLong(o, offset, w, next)) {
                Ravel.name(id(next), o.getClass());
                return next;
            }
            w = U.getLongVolatile(o, offset);
        }
        return w;
    }

    /** An object whose word does not say that this thread has it alone: numbers it, or marks it as shared. */
    @DontInline
    static long share(long t, Object o, long w, int p) {
        int offset = U.getInt(o.getClass(), CLASS_WORD);
        if (offset == 0) offset = offset(o.getClass());
        if (offset < 0) return 0;
        while (true) {
            if ((w & 1) != 0) return w;
            if (((int) w & Word.OWNER) == U.getInt(t + TAG)) return w;
            long next = id(w) == 0 ? word(t) : w & ~(long) Word.OWNER | 1;
            if (U.compareAndSetLong(o, (long) offset, w, next)) {
                if ((next & 1) != 0) {
                    RavelRecords.append(t, Kind.SHARE, 0, p, id(next), ((int) w & Word.OWNER) / 2 - 1);
                }
                return next;
            }
            w = U.getLongVolatile(o, (long) offset);
        }
    }

    /** Where instances of a class have their word: -1 if they have none. */
    @DontInline
    static int offset(Class<?> type) {
        int offset = -1;
        for (Class<?> c = type; c != null && offset < 0; c = c.getSuperclass()) {
            offset = wordOffset(c);
        }
        U.putInt(type, CLASS_WORD, offset);
        return offset;
    }

    private static int wordOffset(Class<?> type) {
        if (!Ravel.hasWord(type)) return -1;
        try {
            return (int) fieldOffset(type, "ravel$w");
        } catch (InternalError e) {
            return -1;
        }
    }

    static int numbered(Object o, int hash) {
        int slot = (hash ^ hash >>> 16) & 0xFFFF;
        for (Ref r = TABLE[slot]; r != null; r = r.next) {
            if (r.hash == hash && r.isTo(o)) return r.number;
        }
        return enlist(o, hash, slot);
    }

    @DontInline
    private static int enlist(Object o, int hash, int slot) {
        synchronized (TABLE) {
            Ref live = null;
            for (Ref r = TABLE[slot]; r != null; r = r.next) {
                if (r.hash == hash && r.isTo(o)) return r.number;
                if (!r.isTo(null)) live = new Ref(r.get(), r.number, r.hash, live);
            }
            int number = Ravel.number(o.getClass());
            TABLE[slot] = new Ref(o, number, hash, live);
            return number;
        }
    }

    /** Whether the JDK made an object for itself, where nothing is tracked. */
    static boolean untracked(Object o) {
        int offset = U.getInt(o.getClass(), CLASS_WORD);
        if (offset == 0) offset = offset(o.getClass());
        return offset > 0 && U.getLong(o, (long) offset) == 0;
    }

    /** Whether no other thread has used an object so far, or the JDK made it for itself. */
    static boolean aloneIn(long t, Object o) {
        int offset = U.getInt(o.getClass(), CLASS_WORD);
        if (offset <= 0) return false;
        long w = U.getLong(o, (long) offset);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG)) return true;
        return (share(t, o, w, U.getInt(t + POSITION)) & 1) == 0;
    }
}
