package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelLayout.Hash.MIX;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Point;
import java.lang.RavelLayout.Size;
import java.lang.RavelLayout.Tag;
import java.lang.RavelLayout.Word;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** Accesses to elements of arrays. An array has no word: it is known by its identity hash. */
public final class RavelArrays {
    private RavelArrays() {}

    @DontInline
    public static void jaget(Object a, int i, Object v, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || RavelFields.isOfJdk(t)) return;
        RavelPoints.step(t);
        U.putInt(t + INSIDE, 1);
        lookAtReference(t, Kind.READ_ELEMENT, a, i, v, site);
        U.putInt(t + INSIDE, 0);
    }

    @DontInline
    public static void japut(Object v, Object a, int i, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || RavelFields.isOfJdk(t)) return;
        RavelPoints.step(t);
        U.putInt(t + INSIDE, 1);
        lookAtReference(t, Kind.WRITE_ELEMENT, a, i, v, site);
        U.putInt(t + INSIDE, 0);
    }

    public static void aget(Object a, int i, int v, int code) {
        element(Kind.READ_ELEMENT, a, i, v, code);
    }

    public static void aget(Object a, int i, long v, int code) {
        element(Kind.READ_ELEMENT, a, i, v, code);
    }

    public static void aget(Object a, int i, float v, int code) {
        element(Kind.READ_ELEMENT, a, i, Float.floatToRawIntBits(v), code);
    }

    public static void aget(Object a, int i, double v, int code) {
        element(Kind.READ_ELEMENT, a, i, Double.doubleToRawLongBits(v), code);
    }

    public static void aget(Object a, int i, Object v, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        lookAtReference(t, Kind.READ_ELEMENT, a, i, v, code);
    }

    public static void aput(int v, Object a, int i, int code) {
        element(Kind.WRITE_ELEMENT, a, i, v, code);
    }

    public static void aput(long v, Object a, int i, int code) {
        element(Kind.WRITE_ELEMENT, a, i, v, code);
    }

    public static void aput(float v, Object a, int i, int code) {
        element(Kind.WRITE_ELEMENT, a, i, Float.floatToRawIntBits(v), code);
    }

    public static void aput(double v, Object a, int i, int code) {
        element(Kind.WRITE_ELEMENT, a, i, Double.doubleToRawLongBits(v), code);
    }

    public static void aput(Object v, Object a, int i, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        lookAtReference(t, Kind.WRITE_ELEMENT, a, i, v, code);
    }

    @ForceInline
    private static void element(int kind, Object a, int i, long v, int code) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.pass(t, code);
        if (a != null && U.getLong(t + SURE_ARRAYS + ((code & Size.SITE_SLOTS - 1) << 3)) == sureElement(t, a, i, code, U.getLong(t + SHAKEN))) return;
        elementAccess(t, kind, code, a, i, v);
    }

    @ForceInline
    private static void lookAtReference(long t, int kind, Object a, int i, Object v, int code) {
        if (a != null && U.getLong(t + SURE_ARRAYS + ((code & Size.SITE_SLOTS - 1) << 3)) == sureReference(t, a, i, code, U.getLong(t + SHAKEN))) return;
        elementAccess(t, kind, code, a, i, RavelObjects.reference(v));
    }

    /** Like sureElement. Where C2 knows that it is an array of references, it will not read the header as a number. */
    @ForceInline
    private static long sureReference(long t, Object a, int i, int code, long shaken) {
        return System.identityHashCode(a) + code * MIX + ((long) (i >>> 12) << 40) + U.getLong(t + EPOCH) + shaken;
    }

    /**
     * Stands for a stretch of an array at a site, until another thread accesses it, which moves SHAKEN, or this one orders something after
     * itself. The header of an array that is no lock has its identity hash.
     */
    @ForceInline
    private static long sureElement(long t, Object a, int i, int code, long shaken) {
        return U.getLong(a, 0L) + code * MIX + ((long) (i >>> 12) << 40) + U.getLong(t + EPOCH) + shaken;
    }

    @DontInline
    private static void elementAccess(long t, int kind, int code, Object a, int i, long v) {
        if (a == null || i < 0 || i >= java.lang.reflect.Array.getLength(a)) return;
        // Elements of arrays are not watched in this forced run.
        if (U.getByte(SITES + (code & Point.SITE)) != 0) return;
        int hash = System.identityHashCode(a);
        // Looked at before anything that it stands for.
        long shaken = U.getLongVolatile(null, t + SHAKEN);
        boolean references = a instanceof Object[];
        long sure = references ? sureReference(t, a, i, code, shaken) : sureElement(t, a, i, code, shaken);
        // A locked header does not hold the hash, so it cannot be the key.
        boolean lasting = references || (U.getLong(a, 0L) & 7) == 1;
        long place = RavelRepeats.placeOfMany(t, hash ^ i >>> 12, code);
        if (lasting && U.getLong(place) == sure) {
            U.putLong(t + SURE_ARRAYS + ((code & Size.SITE_SLOTS - 1) << 3), sure);
            return;
        }
        long w = find(t, a, hash);
        if ((int) w == U.getInt(t + TAG)) {
            if (lasting) {
                U.putLong(t + SURE_ARRAYS + ((code & Size.SITE_SLOTS - 1) << 3), sure);
                U.putLong(place, sure);
            }
            return;
        }
        int site = code & Point.SITE;
        long number = w >>> 32;
        long location = number << 32 | i;
        if ((FLAGS & KEEP_REPEATS) == 0) {
            if (RavelRepeats.repeated(t, location << 1 | kind & 1)) return;
            long stretch = number << 18 | i >>> 12;
            long region = REGIONS + ((stretch * MIX >>> 64 - Size.REGIONS_BITS) << 2);
            int claim = U.getInt(region);
            int next = RavelRepeats.settle(t, kind == Kind.WRITE_ELEMENT, site, stretch, claim);
            if (next < 0) {
                if (lasting) {
                    U.putLong(t + SURE_ARRAYS + ((code & Size.SITE_SLOTS - 1) << 3), sure);
                    U.putLong(place, sure);
                }
                return;
            }
            if (next != claim && U.compareAndSetInt(null, region, claim, next) && claim > RavelRepeats.CONTESTED) tell(claim);
        }
        RavelRecords.recordPlain(t, kind, site, RavelPoints.position(t, code), location, v);
    }

    /** The threads that left accesses to an array out must look again. */
    private static void tell(int claim) {
        if (claim >= RavelRepeats.READERS) {
            Ravel.shake();
        } else {
            long owner = U.getLong(BLOCKS + (claim >>> 9 << 3));
            if (owner != 0) U.getAndAddLong(null, owner + SHAKEN, MIX);
        }
    }

    /** Whether one thread alone has used an array so far, for an access through a handle. */
    static boolean aloneIn(long t, Object a) {
        return (int) find(t, a, System.identityHashCode(a)) == U.getInt(t + TAG);
    }

    /** Looks an array up: its owner's tag if one thread has it alone, else {@code number << 32 | 1}. */
    private static long find(long t, Object a, int hash) {
        long known = U.getLong(t + SETTLED);
        if (known == 0) known = Ravel.settled(t);
        known += (16L << Size.SETTLED_BITS) + ((hash & Size.KNOWN_ARRAYS - 1) << 4);
        // Looked at before the owner that it stands for.
        int stale = U.getIntVolatile(null, t + STALE);
        if (U.getInt(known) == hash && U.getInt(known + 4) == stale) return U.getLong(known + 8);
        long w = owner(t, a, hash);
        U.putInt(known, hash);
        U.putInt(known + 4, stale);
        U.putLong(known + 8, w);
        return w;
    }

    private static long owner(long t, Object a, int hash) {
        long slot = OWNERS + ((long) (hash & Size.OWNERS - 1) << 3);
        int mine = U.getInt(t + TAG);
        while (true) {
            long entry = U.getLongVolatile(null, slot);
            if ((int) (entry >>> 32) != hash) {
                if ((FLAGS & KEEP_UNSHARED) != 0 || mine == Tag.LATE) break;
                if (U.compareAndSetLong(null, slot, entry, (long) hash << 32 | mine)) return mine;
            } else if ((int) entry == mine) {
                return mine;
            } else if ((int) entry == 1) {
                break;
            } else if (U.compareAndSetLong(null, slot, entry, (long) hash << 32 | 1)) {
                long owner = U.getLong(BLOCKS + ((entry & Word.OWNER) >>> 1 << 3));
                if (owner != 0) {
                    U.getAndAddInt(null, owner + STALE, 1);
                    U.getAndAddLong(null, owner + SHAKEN, MIX);
                }
                break;
            }
        }
        return (long) RavelObjects.numbered(a, hash) << 32 | 1;
    }

    /** A new array: the thread that makes it has it alone. */
    public static void made(Object a) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || (FLAGS & KEEP_UNSHARED) != 0 || U.getInt(t + TAG) == Tag.LATE) return;
        int hash = System.identityHashCode(a);
        U.putLong(OWNERS + ((long) (hash & Size.OWNERS - 1) << 3), (long) hash << 32 | U.getInt(t + TAG));
        // A thread that gets the array without synchronisation must not take it for its own.
        RavelFences.stores();
    }

    /** A new array of arrays, each as deep as the other. */
    public static void madeDeep(Object a) {
        if (a == null) return;
        made(a);
        if (!(a instanceof Object[][]) && !(a instanceof Object[] && a.getClass().getComponentType().isArray())) return;
        for (Object inner : (Object[]) a) madeDeep(inner);
    }
}
