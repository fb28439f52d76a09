package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Point;
import jdk.internal.vm.annotation.ForceInline;

/** Forced runs: a thread asks for its turn before a point, and tells which locks it wants, has and gives up. */
public final class RavelForced {
    private RavelForced() {}

    /** Before a point that is in no run or the first of one, in forced runs only. */
    public static void alone(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if ((FLAGS & SEARCHING) != 0) {
            RavelPoints.whole(t);
            RavelSearch.access(t, site);
            return;
        }
        ask(t);
    }

    /** Before another point of a run, in forced runs only. */
    public static void point(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if ((FLAGS & SEARCHING) != 0) RavelSearch.access(t, site);
        else if (U.getInt(t + POSITION) - U.getInt(t + GATE) >= 0) Ravel.gate(t);
    }

    /** Before a monitor is entered, in forced runs only. */
    public static void lockPoint(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if (lock != null) want(t, lock);
        else ask(t);
    }

    /** Enters a method that was synchronized before it was changed for a forced run. */
    public static void enterForced(Object lock, int method, int site) {
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (t != 0) {
            want(t, lock);
        }
        Ravel.lock(lock);
        push(thread, lock);
        RavelMethods.enterLocked(lock, method, site);
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
        try {
            if (t != 0) RavelMethods.pop(t, method);
        } finally {
            unlock();
        }
    }

    public static void exitForcedThrown(int method) {
        try {
            RavelMethods.exitThrown(method);
        } finally {
            unlock();
        }
    }

    private static void unlock() {
        Ravel.unlock(taken(Thread.currentThread()));
    }

    // The results of methods, in forced runs only; a return is no point.

    public static void returned(int v, int site) {
        returned((long) v, site);
    }

    public static void returned(long v, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) RavelRecords.record(t, Kind.RETURNED, site, U.getInt(t + POSITION), 0, v);
    }

    public static void returned(float v, int site) {
        returned((long) Float.floatToRawIntBits(v), site);
    }

    public static void returned(double v, int site) {
        returned(Double.doubleToRawLongBits(v), site);
    }

    public static void returned(Object v, int site) {
        returned(RavelObjects.reference(v), site);
    }

    /** Waits for the thread's turn if the next point is beyond what it may do now. */
    @ForceInline
    static void ask(long t) {
        RavelPoints.whole(t);
        if ((FLAGS & SEARCHING) != 0) RavelSearch.step(t);
        else if (U.getInt(t + POSITION) - U.getInt(t + GATE) >= 0) Ravel.gate(t);
    }

    /** Before something that may block: the next thread need not wait for this one. */
    @ForceInline
    static void handOver(long t) {
        if ((FLAGS & FORCING) != 0 && U.getInt(t + POSITION) - U.getInt(t + GATE) >= 0) Ravel.next(t);
    }

    /** Before a collection of the JDK takes a lock. */
    public static void beforeLock(Object lock) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || RavelMethods.hidden(t) || lock == null) return;
        want(t, lock);
    }

    /** Waits for the thread's turn to take a lock. */
    private static void want(long t, Object lock) {
        if ((FLAGS & SEARCHING) != 0) {
            RavelPoints.whole(t);
            RavelSearch.monitor(t, lock);
            return;
        }
        ask(t);
        Ravel.want(t, RavelObjects.identity(lock));
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
        if (t == 0 || RavelFields.isOfJdk(t)) return;
        if ((site & Point.OF_TOOL) != 0 && !RavelFields.callsTool(t)) return;
        if ((FLAGS & SEARCHING) != 0) {
            RavelPoints.whole(t);
            RavelSearch.access(t, site & Point.SITE);
            return;
        }
        ask(t);
    }
}
