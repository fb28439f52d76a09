package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelLayout.Hash.MIX;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Point;
import java.lang.RavelLayout.SiteFlag;
import java.lang.RavelLayout.Size;
import java.lang.RavelLayout.Word;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** Accesses to fields, of objects and static ones. */
public final class RavelFields {
    private RavelFields() {}

    public static void get(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.READ, code, o, w, v);
    }

    public static void get(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.READ, code, o, w, v);
    }

    public static void get(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.READ, code, o, w, Float.floatToRawIntBits(v));
    }

    public static void get(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.READ, code, o, w, Double.doubleToRawLongBits(v));
    }

    public static void get(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.READ, code, o, w, RavelObjects.reference(v));
    }

    public static void volatileGet(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        RavelFences.loads();
        if (RavelRepeats.sureVolatile(t, w, code) || ((int) w & Word.OWNER) == U.getInt(t + TAG)) return;
        access(t, Kind.READ, code, o, w, v);
    }

    public static void volatileGet(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        RavelFences.loads();
        if (RavelRepeats.sureVolatile(t, w, code) || ((int) w & Word.OWNER) == U.getInt(t + TAG)) return;
        access(t, Kind.READ, code, o, w, v);
    }

    public static void volatileGet(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        RavelFences.loads();
        if (RavelRepeats.sureVolatile(t, w, code) || ((int) w & Word.OWNER) == U.getInt(t + TAG)) return;
        access(t, Kind.READ, code, o, w, Float.floatToRawIntBits(v));
    }

    public static void volatileGet(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        RavelFences.loads();
        if (RavelRepeats.sureVolatile(t, w, code) || ((int) w & Word.OWNER) == U.getInt(t + TAG)) return;
        access(t, Kind.READ, code, o, w, Double.doubleToRawLongBits(v));
    }

    public static void volatileGet(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        RavelFences.loads();
        if (RavelRepeats.sureVolatile(t, w, code) || ((int) w & Word.OWNER) == U.getInt(t + TAG)) return;
        access(t, Kind.READ, code, o, w, RavelObjects.reference(v));
    }

    // Volatile fields, and fields of classes that are not loaded yet. A volatile write is recorded also while one thread owns the object.

    public static void volatilePut(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG)) {
            own(t, code & Point.SITE, RavelPoints.position(t, code), RavelObjects.id(w), v);
        } else if (!RavelRepeats.sure(t, w, code)) {
            access(t, Kind.WRITE, code, o, w, v);
        }
    }

    public static void volatilePut(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG)) {
            own(t, code & Point.SITE, RavelPoints.position(t, code), RavelObjects.id(w), v);
        } else if (!RavelRepeats.sure(t, w, code)) {
            access(t, Kind.WRITE, code, o, w, v);
        }
    }

    public static void volatilePut(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG)) {
            own(t, code & Point.SITE, RavelPoints.position(t, code), RavelObjects.id(w), Float.floatToRawIntBits(v));
        } else if (!RavelRepeats.sure(t, w, code)) {
            access(t, Kind.WRITE, code, o, w, Float.floatToRawIntBits(v));
        }
    }

    public static void volatilePut(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG)) {
            own(t, code & Point.SITE, RavelPoints.position(t, code), RavelObjects.id(w), Double.doubleToRawLongBits(v));
        } else if (!RavelRepeats.sure(t, w, code)) {
            access(t, Kind.WRITE, code, o, w, Double.doubleToRawLongBits(v));
        }
    }

    public static void volatilePut(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG)) {
            own(t, code & Point.SITE, RavelPoints.position(t, code), RavelObjects.id(w), RavelObjects.reference(v));
        } else if (!RavelRepeats.sure(t, w, code)) {
            access(t, Kind.WRITE, code, o, w, RavelObjects.reference(v));
        }
    }

    public static void put(int v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.WRITE, code, o, w, v);
    }

    public static void put(long v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.WRITE, code, o, w, v);
    }

    public static void put(float v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.WRITE, code, o, w, Float.floatToRawIntBits(v));
    }

    public static void put(double v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.WRITE, code, o, w, Double.doubleToRawLongBits(v));
    }

    public static void put(Object v, Object o, long w, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sure(t, w, code)) return;
        access(t, Kind.WRITE, code, o, w, RavelObjects.reference(v));
    }

    /** The thread has an object. This access cannot race, but other accesses to the object may, and these need to know who shares it. */
    public static void touch(Object o, long w) {
        if ((w & 1) != 0) return;
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || ((int) w & Word.OWNER) == U.getInt(t + TAG)) return;
        RavelObjects.share(t, o, w, U.getInt(t + POSITION));
    }

    // Fields of tracked JDK objects: they count only when application code called, outside modelled methods.

    public static void jget(int v, Object o, long w, int site) {
        jdk(Kind.READ, o, w, site, v);
    }

    public static void jget(long v, Object o, long w, int site) {
        jdk(Kind.READ, o, w, site, v);
    }

    public static void jget(float v, Object o, long w, int site) {
        jdk(Kind.READ, o, w, site, Float.floatToRawIntBits(v));
    }

    public static void jget(double v, Object o, long w, int site) {
        jdk(Kind.READ, o, w, site, Double.doubleToRawLongBits(v));
    }

    public static void jget(Object v, Object o, long w, int site) {
        if (w != 0) jdk(Kind.READ, o, w, site, RavelObjects.reference(v));
    }

    public static void jput(int v, Object o, long w, int site) {
        jdk(Kind.WRITE, o, w, site, v);
    }

    public static void jput(long v, Object o, long w, int site) {
        jdk(Kind.WRITE, o, w, site, v);
    }

    public static void jput(float v, Object o, long w, int site) {
        jdk(Kind.WRITE, o, w, site, Float.floatToRawIntBits(v));
    }

    public static void jput(double v, Object o, long w, int site) {
        jdk(Kind.WRITE, o, w, site, Double.doubleToRawLongBits(v));
    }

    public static void jput(Object v, Object o, long w, int site) {
        if (w != 0) jdk(Kind.WRITE, o, w, site, RavelObjects.reference(v));
    }

    /** Whether a collection that is accessed now is the JDK's own: no code of the program called it, or the program called a service. */
    static boolean isOfJdk(long t) {
        if (RavelMethods.hidden(t) || U.getLong(t + TOP) == U.getLong(t + BOTTOM)) return true;
        int call = U.getInt(t + CALL);
        return call > 0 && (U.getByte(SITES + call) & SiteFlag.CALLS_SERVICE) != 0;
    }

    /** Whether the program's call is one of a tool: others use tools under locks that are not recorded. */
    static boolean callsTool(long t) {
        int call = U.getInt(t + CALL);
        return call > 0 && (U.getByte(SITES + call) & SiteFlag.CALLS_TOOL) != 0;
    }

    private static void jdk(int kind, Object o, long w, int site, long v) {
        if (w == 0) return;
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || isOfJdk(t)) return;
        if ((site & Point.OF_TOOL) != 0) {
            // Its monitor is not recorded, unlike that of a tool.
            if (!callsTool(t) || o instanceof StringBuffer) return;
            site &= Point.SITE;
        }
        RavelPoints.step(t);
        if (((int) w & Word.OWNER) == U.getInt(t + TAG) || RavelRepeats.sureOfMany(t, w, site)) return;
        U.putInt(t + INSIDE, 1);
        access(t, kind, site, o, w, v);
        U.putInt(t + INSIDE, 0);
    }

    // Static fields.

    public static void getStatic(int v, int code) {
        statics(Kind.READ, code, v);
    }

    public static void getStatic(long v, int code) {
        statics(Kind.READ, code, v);
    }

    public static void getStatic(float v, int code) {
        statics(Kind.READ, code, Float.floatToRawIntBits(v));
    }

    public static void getStatic(double v, int code) {
        statics(Kind.READ, code, Double.doubleToRawLongBits(v));
    }

    public static void getStatic(Object v, int code) {
        statics(Kind.READ, code, RavelObjects.reference(v));
    }

    public static void putStatic(int v, int code) {
        statics(Kind.WRITE, code, v);
    }

    public static void putStatic(long v, int code) {
        statics(Kind.WRITE, code, v);
    }

    public static void putStatic(float v, int code) {
        statics(Kind.WRITE, code, Float.floatToRawIntBits(v));
    }

    public static void putStatic(double v, int code) {
        statics(Kind.WRITE, code, Double.doubleToRawLongBits(v));
    }

    public static void putStatic(Object v, int code) {
        statics(Kind.WRITE, code, RavelObjects.reference(v));
    }

    /** STATICS has a word for each site: the index of its field's owner in the same table, found by the agent. */
    @ForceInline
    private static void statics(int kind, int code, long v) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        long owner = STATICS + 4L * U.getInt(STATICS + 4L * (code & Point.SITE));
        int tag = U.getInt(owner);
        if (tag == U.getInt(t + TAG)) {
            if (kind == Kind.WRITE) own(t, code & Point.SITE, RavelPoints.position(t, code), 0, v);
            return;
        }
        staticAccess(t, kind, code & Point.SITE, RavelPoints.position(t, code), owner, tag, v);
    }

    @DontInline
    private static void staticAccess(long t, int kind, int site, int p, long owner, int tag, long v) {
        if ((FLAGS & SEARCHING) != 0) RavelSearch.touched(t, site, 0, kind == Kind.WRITE);
        if ((tag & 1) == 0) {
            // It is not known who made it; the first thread usually did. To all other threads it is shared.
            if (tag == 0 && U.getInt(t + THREAD) == 0 && (FLAGS & KEEP_UNSHARED) == 0
                    && U.compareAndSetInt(null, owner, 0, U.getInt(t + TAG))) {
                if (kind == Kind.WRITE) own(t, site, p, 0, v);
                return;
            }
            U.putInt(owner, tag = 1);
        }
        int flags = U.getByte(SITES + site);
        if (flags != 0) {
            special(t, kind, site, p, 0, v, flags);
            return;
        }
        if ((FLAGS & KEEP_REPEATS) == 0) {
            int field = U.getInt(STATICS + 4L * site);
            if (RavelRepeats.repeated(t, (long) field << 1 | kind & 1)) return;
            int claim = tag >>> 1;
            int next = RavelRepeats.settle(t, kind == Kind.WRITE, site, field, claim);
            if (next < 0) return;
            if (next != claim) U.compareAndSetInt(null, owner, tag, next << 1 | 1);
        }
        RavelRecords.recordPlain(t, kind, site, p, 0, v);
    }

    @DontInline
    private static void access(long t, int kind, int code, Object o, long w, long v) {
        long place = t + SURE_OBJECTS + ((code & Size.SITE_SLOTS - 1) << 3);
        if (RavelRepeats.sureVolatile(t, w, code)) return;
        long sure = w + code * MIX + U.getLong(t + SAYS_NEW);
        if (RavelRepeats.sureOfMany(t, w, code)) {
            U.putLong(place, sure);
            return;
        }
        int site = code & Point.SITE;
        if ((FLAGS & SEARCHING) != 0) RavelSearch.touched(t, site, RavelObjects.id(w), kind == Kind.WRITE);
        int p = RavelPoints.position(t, code);
        if ((w & 1) == 0) {
            w = RavelObjects.share(t, o, w, p);
            if ((w & 1) == 0 && (FLAGS & KEEP_UNSHARED) == 0) {
                if (kind == Kind.WRITE) own(t, site, p, RavelObjects.id(w), v);
                return;
            }
        }
        int flags = U.getByte(SITES + site);
        if (flags != 0) {
            long writes = RavelRepeats.writesBefore(site);
            boolean seen = special(t, kind, site, p, RavelObjects.id(w), v, flags);
            if (seen) U.putLong(place, (flags & SiteFlag.VOLATILE) != 0 ? RavelRepeats.sureOfVolatile(t, w, code, writes) : sure);
            return;
        }
        if ((FLAGS & FOR_RACES) != 0) {
            RavelRecords.recordPlain(t, kind, site, p, RavelObjects.id(w), v);
            if ((FLAGS & KEEP_REPEATS) != 0) return;
            sure = w + code * MIX + U.getLong(t + SAYS_NEW);
            U.putLong(place, sure);
            U.putLong(RavelRepeats.placeOfMany(t, (int) (w >>> Word.ID), code), sure);
            return;
        }
        if ((FLAGS & KEEP_REPEATS) == 0) {
            if (RavelRepeats.repeated(t, RavelObjects.id(w) << 24 ^ (long) U.getInt(STATICS + 4L * site) << 1 ^ kind & 1)) return;
            int claim = (int) w >>> 1 & RavelRepeats.CLAIM_BITS;
            int next = RavelRepeats.settle(t, kind == Kind.WRITE, site, RavelObjects.id(w), claim);
            if (next < 0) {
                U.putLong(place, sure);
                U.putLong(RavelRepeats.placeOfMany(t, (int) (w >>> Word.ID), code), sure);
                return;
            }
            if (next != claim) {
                // If it fails, another thread is here: nothing is settled.
                U.compareAndSetLong(o, (long) U.getInt(o.getClass(), CLASS_WORD), w, w & ~((long) RavelRepeats.CLAIM_BITS << 1) | (long) next << 1);
            }
        }
        RavelRecords.recordPlain(t, kind, site, p, RavelObjects.id(w), v);
    }

    /** A write of the owner. A volatile write happens before the reads of threads that touch the field later. */
    @ForceInline
    private static void own(long t, int site, int p, long object, long v) {
        if ((U.getByte(SITES + site) & SiteFlag.VOLATILE) != 0) ownVolatile(t, site, p, object, v);
    }

    @DontInline
    private static void ownVolatile(long t, int site, int p, long object, long v) {
        if (!RavelRepeats.ordersNew(t, object << 24 ^ U.getInt(STATICS + 4L * site))) return;
        RavelRecords.stamped(t, Kind.WRITE, site, p, object, v, U.getLong(t + STAMP));
        RavelRepeats.ordered(t);
    }

    /** An access to a final or volatile field; gives whether the next such access says nothing new either, as long as no thread writes. */
    private static boolean special(long t, int kind, int site, int p, long object, long v, int flags) {
        if ((flags & SiteFlag.VOLATILE) == 0) return true;
        if (kind == Kind.WRITE) {
            RavelRecords.stamped(t, kind, site, p, object, v, U.getLong(t + STAMP));
            return false;
        }
        // The thread that wrote the value has moved both counters before. A plain read may be one that a fence orders.
        RavelFences.loads();
        long writes = RavelRepeats.writesBefore(site);
        long of = object == 0 ? U.getInt(STATICS + 4L * site) : object;
        if ((FLAGS & KEEP_REPEATS) == 0 && RavelRepeats.seenBefore(t, of, site, (int) writes)) return true;
        U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
        RavelRecords.record(t, kind, site, p, object, v);
        return false;
    }

    /** Before a write to a volatile field: its number must be smaller than that of any read that sees it. */
    public static void stamp(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if ((U.getByte(SITES + site) & SiteFlag.VOLATILE) != 0) {
            long number = U.getAndAddLong(null, SEQUENCE, 1);
            U.putLong(t + STAMP, number);
            RavelRepeats.writing(U.getInt(STATICS + 4L * site), number);
            // The write that follows may be a plain one that a fence orders.
            RavelFences.stores();
        }
    }

    /** The same of a static field. */
    static boolean aloneInStatic(long t, int field) {
        long owner = STATICS + 4L * (Point.SITE + 1 + field);
        int tag = U.getInt(owner);
        if (tag == U.getInt(t + TAG)) return true;
        if (tag == 0 && U.getInt(t + THREAD) == 0 && (FLAGS & KEEP_UNSHARED) == 0
                && U.compareAndSetInt(null, owner, 0, U.getInt(t + TAG))) {
            return true;
        }
        if ((tag & 1) == 0) U.putInt(owner, 1);
        return false;
    }
}
