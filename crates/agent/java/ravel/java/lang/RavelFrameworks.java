package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Effect;
import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Model;
import java.lang.RavelLayout.RawRecord;
import java.lang.RavelLayout.SiteFlag;
import jdk.internal.vm.annotation.DontInline;

/**
 * Classes that are left out of the recording: only the order that they make between threads is recorded, as sends and receives. An
 * object that a framework synchronises on is known by its identity hash alone, whichever of its fields or its monitor is used, since
 * frameworks read by field what they write by handle. Two objects with one hash make more order, never less.
 *
 * <p>Nothing here is a point of a schedule.
 */
public final class RavelFrameworks {
    private RavelFrameworks() {}

    /** In the word that names the call about to be made: a framework makes it. As a site it is none, since it is above the bits of a site. */
    static final int CALL_OF_FRAMEWORK = 1 << 31;

    /** Before a call that may be of a modelled method. */
    public static void calling() {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) U.putInt(t + CALL, CALL_OF_FRAMEWORK);
    }

    /** After a read of a volatile field, and when a monitor has been taken. */
    public static void received(Object o) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && o != null) receive(t, o);
    }

    /** Before a write to a volatile field, and before a monitor is given up. */
    public static void sending(Object o) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && o != null) send(t, o);
    }

    /** The same for a field whose class was not loaded when the code was: the site says by now whether it is volatile. */
    public static void received(Object o, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && o != null && (U.getByte(SITES + site) & SiteFlag.VOLATILE) != 0) receive(t, o);
    }

    public static void sending(Object o, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && o != null && (U.getByte(SITES + site) & SiteFlag.VOLATILE) != 0) send(t, o);
    }

    /** Static fields: the site stands for the field. */
    public static void receivedStatic(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || (U.getByte(SITES + site) & SiteFlag.VOLATILE) == 0 || U.getLong(t + TOP) == U.getLong(t + OPAQUE)) return;
        RavelRecords.sync(t, Kind.RECEIVE, 0, RawRecord.ORDER_OBJECT | 1L << 32 | U.getInt(STATICS + 4L * site));
    }

    public static void sendingStatic(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || (U.getByte(SITES + site) & SiteFlag.VOLATILE) == 0 || U.getLong(t + TOP) == U.getLong(t + OPAQUE)) return;
        RavelRecords.sync(t, Kind.SEND, 0, RawRecord.ORDER_OBJECT | 1L << 32 | U.getInt(STATICS + 4L * site));
    }

    /** The state of a synchroniser of the JDK, if the program or a framework has extended it. The JDK's own have models. */
    public static void stateReceived(Object o) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && o.getClass().getClassLoader0() != null) RavelRecords.sync(t, Kind.RECEIVE, 0, channel(o));
    }

    public static void stateSending(Object o) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && o.getClass().getClassLoader0() != null) RavelRecords.sync(t, Kind.SEND, 0, channel(o));
    }

    @DontInline
    private static void receive(long t, Object o) {
        if (U.getLong(t + TOP) != U.getLong(t + OPAQUE)) RavelRecords.sync(t, Kind.RECEIVE, 0, channel(o));
    }

    @DontInline
    private static void send(long t, Object o) {
        if (U.getLong(t + TOP) != U.getLong(t + OPAQUE)) RavelRecords.sync(t, Kind.SEND, 0, channel(o));
    }

    /** What the trace knows an object by on which a framework synchronises. */
    static long channel(Object o) {
        return RawRecord.ORDER_OBJECT | System.identityHashCode(o);
    }

    /**
     * What a modelled method means if a framework calls it: locks and atomics only order threads. Gives the effect that is left for the
     * end of the method.
     */
    static int enter(long t, int effect, long object) {
        switch (effect) {
            case Effect.LOCK: case Effect.LOCK_SHARED: case Effect.GET: case Effect.MAP_GET: case Effect.STATE_READ:
                return Effect.RECEIVE;
            case Effect.TRY_LOCK: case Effect.TRY_LOCK_SHARED:
                return Effect.RECEIVE_IF;
            case Effect.UNLOCK: case Effect.UNLOCK_SHARED: case Effect.SET:
                RavelRecords.sync(t, Kind.SEND, 0, object);
                return Effect.HIDE;
            case Effect.SIGNAL: case Effect.SIGNAL_ALL: case Effect.HIDE:
                return Effect.HIDE;
            default:
                RavelRecords.sync(t, Kind.SEND, 0, object);
                return Effect.RECEIVE;
        }
    }

    /** Whether an effect is one that a framework has on its own state, and not on that of the program. */
    static boolean isOrder(int effect, boolean own) {
        switch (effect) {
            case Effect.LOCK: case Effect.TRY_LOCK: case Effect.UNLOCK: case Effect.LOCK_SHARED: case Effect.TRY_LOCK_SHARED:
            case Effect.UNLOCK_SHARED: case Effect.AWAIT: case Effect.SIGNAL: case Effect.SIGNAL_ALL: case Effect.GET: case Effect.SET:
            case Effect.UPDATE: case Effect.COMPARE_AND_SET:
                return true;
            // Where the program has called the framework, these may be its own collections.
            case Effect.MAP_GET: case Effect.MAP_PUT: case Effect.MAP_PUT_IF_ABSENT: case Effect.MAP_REMOVE: case Effect.MAP_COMPUTE:
            case Effect.MAP_REPLACE_IF: case Effect.MAP_UPDATE: case Effect.STATE_READ: case Effect.STATE_UPDATE:
                return own;
            default:
                return false;
        }
    }
}
