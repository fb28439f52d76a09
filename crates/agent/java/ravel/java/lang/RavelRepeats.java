package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelLayout.Hash.MIX;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Epoch;
import java.lang.RavelLayout.Point;
import java.lang.RavelLayout.Size;
import java.lang.RavelLayout.Word;
import jdk.internal.vm.annotation.ForceInline;

/** Decides which accesses say nothing new and are left out of the trace. */
final class RavelRepeats {
    private RavelRepeats() {}

    // The claim to a shared object or to a stretch of an array, see settle.
    static final int CLAIM_BITS = 0xFFFFF;
    static final int READERS = 0x80000;
    static final int CONTESTED = 1;
    private static final int CLAIMANTS = 1023;
    /** How often the same code must have done the same before the next time says nothing new. */
    private static final int ENOUGH = 8;
    /** The same where a claim has been broken before. */
    private static final int PLENTY = 128;

    /**
     * Whether this access says nothing new: see settle, which found so when the object's word was the same. In a recording for races: the
     * thread has made it before, and has ordered nothing after itself since. What races with this one then races with that one, which
     * had no lock that this one has not.
     */
    @ForceInline
    static boolean sure(long t, long w, int site) {
        return U.getLong(t + SURE_OBJECTS + ((site & Size.SITE_SLOTS - 1) << 3)) == w + site * MIX + U.getLong(t + SAYS_NEW);
    }

    /** The same, for code that sees many objects in turn. */
    @ForceInline
    static boolean sureOfMany(long t, long w, int site) {
        return U.getLong(placeOfMany(t, (int) (w >>> Word.ID), site)) == w + site * MIX + U.getLong(t + SAYS_NEW);
    }

    @ForceInline
    static long placeOfMany(long t, int object, int site) {
        return t + SURE_MANY + ((site * 31 ^ object) & Size.MANY_SLOTS - 1) * 8;
    }

    /** Like sure, for fields that are known to be volatile. */
    @ForceInline
    static boolean sureVolatile(long t, long w, int code) {
        return U.getLong(t + SURE_OBJECTS + ((code & Size.SITE_SLOTS - 1) << 3)) == sureOfVolatile(t, w, code, writesOf(code & Point.SITE));
    }

    /**
     * Stands for a read of a volatile field that says nothing new as long as it is not written. It cannot race, so in a
     * recording for races only the write that it sees counts.
     */
    @ForceInline
    static long sureOfVolatile(long t, long w, int code, long writes) {
        long since = (FLAGS & FOR_RACES) != 0 ? 0 : U.getLong(t + EPOCH);
        return w + code * MIX + since ^ (writes + 1) * 0xC2B2AE3D27D4EB4FL;
    }

    /** Says whether a volatile field has been written since: some fields share a number. The read of the field comes before. */
    @ForceInline
    static long writesOf(int site) {
        return U.getLong(VOLATILES + ((U.getInt(STATICS + 4L * site) & Size.VOLATILES - 1) << 3));
    }

    /** The same before the read is recorded: the counter is looked at after it, so the record comes after the write of this number. */
    static long writesBefore(int site) {
        return U.getLongVolatile(null, VOLATILES + ((U.getInt(STATICS + 4L * site) & Size.VOLATILES - 1) << 3));
    }

    /** A volatile field is written: no number comes twice, so each reader sees the write, whichever of two is there last. */
    static void writing(int field, long number) {
        U.putLongRelease(null, VOLATILES + ((field & Size.VOLATILES - 1) << 3), number);
    }

    /**
     * Whether no pattern can need this access: since the last synchronisation or method boundary the thread has made
     * the same access twice, and nothing new in between. In a recording for races once is enough.
     */
    static boolean repeated(long t, long key) {
        long entry = U.getLong(t + REPEATS) + ((key * MIX >>> 64 - Size.REPEATS_BITS) << 4);
        int segment = U.getInt(t + SEGMENT);
        int novel = U.getInt(t + NOVEL);
        if (U.getLong(entry) == key && U.getInt(entry + 8) >> 1 == segment << 1 >> 1) {
            if ((FLAGS & FOR_RACES) != 0) return true;
            int seen = U.getInt(entry + 12);
            if (seen == novel && (U.getInt(entry + 8) & 1) != 0) return true;
            U.putInt(entry + 8, segment << 1 | 1);
            U.putInt(entry + 12, novel);
            return false;
        }
        novel++;
        U.putInt(t + NOVEL, novel);
        U.putLong(entry, key);
        U.putInt(entry + 8, segment << 1);
        U.putInt(entry + 12, novel);
        return false;
    }

    /**
     * Whether an access to a shared object, or to a stretch of a shared array, says nothing new: the same code of the same thread has
     * accessed it often enough, no other thread has meanwhile, or none has written to it and this is a read, and the thread has
     * ordered nothing after itself since (locks apart).
     *
     * <p>The claim says who has it: 0 is no thread yet, CONTESTED no single thread, else it is a thread with a count, or
     * READERS with a count. Any other access breaks it. Gives -1 if the access is to be left out, else the claim from now on.
     */
    static int settle(long t, boolean write, int site, long group, int claim) {
        long table = U.getLong(t + SETTLED);
        if (table == 0) table = Ravel.settled(t);
        // Back off at sites where the filter rarely succeeds.
        long vain = t + VAIN + (site & Size.SITE_SLOTS - 1);
        int tries = U.getByte(vain);
        if (tries == Byte.MAX_VALUE) {
            if (claim <= CONTESTED && (int) U.getLong(t + CURSOR) * (int) MIX >>> 28 != 0) return claim;
        } else {
            U.putByte(vain, (byte) (tries + 1));
        }
        long key = group << 25 ^ site;
        long entry = table + ((key * MIX >>> 64 - Size.SETTLED_BITS) << 4);
        int epoch = (int) (U.getLong(t + EPOCH) >>> 40);
        int n = 0;
        if (U.getLong(entry) == key && U.getInt(entry + 8) == claim && U.getInt(entry + 12) >>> 8 == epoch) {
            n = U.getInt(entry + 12) & 0xFF;
        }
        int me = U.getInt(t + THREAD) + 1;
        int next = claim;
        if (claim >= READERS ? !write : claim > CONTESTED && claim >>> 9 == me) {
            if (n >= ENOUGH) {
                U.putByte(vain, (byte) 0);
                return -1;
            }
        } else if (claim > CONTESTED && claim < READERS) {
            next = CONTESTED;
            n = 0;
        } else if (claim >= READERS || n >= (claim == 0 ? ENOUGH : PLENTY)) {
            int count = U.getInt(t + CLAIMS) + 1;
            U.putInt(t + CLAIMS, count);
            next = !write ? READERS | (count * 1021 + me) & READERS - 1 : me < CLAIMANTS ? me << 9 | count & 511 : CONTESTED;
            n = 0;
        }
        U.putLong(entry, key);
        U.putInt(entry + 8, next);
        U.putInt(entry + 12, epoch << 8 | Math.min(n + 1, 0xFF));
        return next;
    }

    /** Whether the same code has read a volatile field often enough since any such field was written. */
    static boolean seenBefore(long t, long object, int site, int writes) {
        long table = U.getLong(t + SETTLED);
        if (table == 0) table = Ravel.settled(t);
        long key = object << 25 ^ site;
        long entry = table + ((key * MIX >>> 64 - Size.SETTLED_BITS) << 4);
        int epoch = (FLAGS & FOR_RACES) != 0 ? 0 : (int) (U.getLong(t + EPOCH) >>> 40);
        int n = 0;
        if (U.getLong(entry) == key && U.getInt(entry + 8) == writes && U.getInt(entry + 12) >>> 8 == epoch) {
            n = U.getInt(entry + 12) & 0xFF;
            if (n >= ((FLAGS & FOR_RACES) != 0 ? 1 : ENOUGH)) return true;
        }
        U.putLong(entry, key);
        U.putInt(entry + 8, writes);
        U.putInt(entry + 12, epoch << 8 | n + 1);
        return false;
    }

    /**
     * Whether a volatile or atomic write of the owner must be recorded. A second write to the same place adds nothing if the thread has recorded nothing
     * in between: a reader of either comes after the same records. Nor does a write of the first thread before it starts another one.
     */
    static boolean ordersNew(long t, long place) {
        if (U.getInt(t + THREAD) == 0 && U.getLong(t + EPOCH) == Epoch.FIRST) return false;
        boolean same = U.getLong(t + OWN_PLACE) == place && U.getLong(t + OWN_CURSOR) == U.getLong(t + CURSOR);
        U.putLong(t + OWN_PLACE, place);
        return !same;
    }

    /** Such a write is the last record of the thread. */
    static void ordered(long t) {
        U.putLong(t + OWN_CURSOR, U.getLong(t + CURSOR));
    }

    /** The thread has ordered something after what it did so far: what is left out may no longer rest on what came before. */
    static void release(long t) {
        U.putLong(t + EPOCH, U.getLong(t + EPOCH) + MIX);
        U.putLong(t + STRETCH, U.getLong(t + STRETCH) + MIX);
    }
}
