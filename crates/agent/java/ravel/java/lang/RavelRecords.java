package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelLayout.Hash.MIX;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Frame;
import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.RawRecord;
import java.lang.RavelLayout.Shift;
import java.lang.RavelLayout.Size;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** Writes the records of a thread to its buffer. */
final class RavelRecords {
    private RavelRecords() {}

    static void stamped(long t, int kind, int site, int p, long a, long b, long stamp) {
        frames(t);
        U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
        RavelRepeats.release(t);
        append(t, Kind.STAMP, 0, p, stamp, 0);
        U.putLong(t + MARK, stamp + 1);
        append(t, kind, site, p, a, b);
    }

    /**
     * An access that is no synchronisation. Under a lock the acquisition and the release say well enough when it was, and the counter,
     * which all threads move, is looked at now and then only; and when a class has been initialised since, which orders threads
     * inside of critical sections.
     */
    static void recordPlain(long t, int kind, int site, int p, long a, long b) {
        if (U.getInt(t + INSIDE) != 0) calling(t, p);
        boolean placed = U.getInt(t + HELD) > 0 && U.getLong(t + MARK) >= U.getLong(INITIALIZATIONS);
        if (placed && (p & 7) != 0 && (FLAGS & (FORCING | KEEP_REPEATS | WITH_NOISE)) == 0) {
            frames(t);
            append(t, kind, site, p, a, b);
        } else {
            record(t, kind, site, p, a, b);
        }
    }

    /** Before an event inside the JDK: writes the program's call, since the report shows that, unless it is still the last one written. */
    @DontInline
    static void calling(long t, int p) {
        U.putInt(t + INSIDE, 0);
        int call = U.getInt(t + CALL);
        if (call == U.getInt(t + CALLED)) return;
        U.putInt(t + CALLED, call);
        frames(t);
        append(t, Kind.CALL, call, p, 0, 0);
    }

    static void record(long t, int kind, int site, int p, long a, long b) {
        if (SAMPLE != 0 && kind <= Kind.WRITE_ELEMENT && isSampled(t, site)) return;
        frames(t);
        long now = U.getLong(SEQUENCE);
        if (now != U.getLong(t + MARK)) {
            U.putLong(t + MARK, now);
            append(t, Kind.MARK, 0, p, now, 0);
        }
        append(t, kind, site, p, a, b);
        if ((FLAGS & WITH_NOISE) != 0) Ravel.noise(t);
    }

    /**
     * When sampling: whether this thread has been recorded at this site often enough. Threads that share a count, and counts that
     * race, make the sample a little smaller or larger.
     */
    private static boolean isSampled(long t, int site) {
        long place = SAMPLES + ((long) site * 16 + (U.getInt(t + TAG) >>> 1 & 15) & Size.SAMPLES - 1);
        int seen = U.getByte(place) & 255;
        if (seen >= SAMPLE) return true;
        U.putByte(place, (byte) (seen + 1));
        return false;
    }

    /** Writes the methods that have been entered since the last record. */
    @ForceInline
    static void frames(long t) {
        if (U.getLong(t + WRITTEN) != U.getLong(t + TOP)) writeFrames(t);
    }

    @DontInline
    private static void writeFrames(long t) {
        long top = U.getLong(t + TOP);
        long f = U.getLong(t + WRITTEN);
        while (f < top) {
            append(t, Kind.ENTER, U.getInt(f + Frame.CALL), U.getInt(f + Frame.POSITION), U.getInt(f + Frame.METHOD), 0);
            f += Frame.SIZE;
        }
        U.putLong(t + WRITTEN, top);
        U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
    }

    @ForceInline
    static void append(long t, int kind, int site, int p, long a, long b) {
        long c = U.getLong(t + CURSOR);
        if (c == U.getLong(t + LIMIT)) c = Ravel.flush(t);
        U.putLong(c, (long) p << Shift.POSITION | (site << Shift.SITE | kind) & 0xFFFFFFFFL);
        U.putLong(c + RawRecord.A, a);
        U.putLong(c + RawRecord.B, b);
        RavelFences.stores();
        U.putLong(t + CURSOR, c + RawRecord.SIZE);
    }

    @DontInline
    static void sync(long t, int kind, int site, long object) {
        if ((FLAGS & FORCING) != 0) RavelPoints.whole(t);
        frames(t);
        U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
        long number = U.getAndAddLong(null, SEQUENCE, 1);
        append(t, kind, site, U.getInt(t + POSITION), object, number);
        // The reader of the trace knows that the thread has seen this.
        U.putLong(t + MARK, number + 1);
        if (kind >= Kind.ACQUIRE && kind <= Kind.RESUME_UNNOTIFIED) {
            boolean gives = kind == Kind.RELEASE || kind == Kind.RELEASE_SHARED || kind == Kind.WAIT;
            U.putInt(t + HELD, U.getInt(t + HELD) + (gives ? -1 : 1));
            if (gives) U.putLong(t + STRETCH, U.getLong(t + STRETCH) + MIX);
        }
        if (kind == Kind.NOTIFY || kind == Kind.NOTIFY_ALL || kind == Kind.SEND || kind == Kind.INITIALIZED) RavelRepeats.release(t);
        if ((FLAGS & FORCING) != 0) forced(t, kind, object);
        if ((FLAGS & WITH_NOISE) != 0) Ravel.noise(t);
    }

    /** Forced runs know which thread holds which lock. */
    private static void forced(long t, int kind, long object) {
        switch (kind) {
            case Kind.ACQUIRE: case Kind.RESUME: case Kind.RESUME_UNNOTIFIED: Ravel.got(t, object); break;
            case Kind.RELEASE: Ravel.give(t, object, false); break;
            case Kind.WAIT: Ravel.give(t, object, true); RavelForced.handOver(t); break;
            default: break;
        }
    }
}
