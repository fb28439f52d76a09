package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Frame;
import java.lang.RavelLayout.Kind;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** The shadow stack: which methods a thread has entered. Methods in which nothing is recorded never reach the trace. */
public final class RavelMethods {
    private RavelMethods() {}

    @ForceInline
    static boolean hidden(long t) {
        long top = U.getLong(t + TOP);
        return isOutside(t, top) || top == U.getLong(t + OPAQUE);
    }

    /** Whether no code of the program is on the stack. Of a thread that was there before Ravel, code may be that has no frame here. */
    @ForceInline
    static boolean isOutside(long t, long top) {
        return top == U.getLong(t + BOTTOM) && ((FLAGS & ATTACHED) == 0 || U.getInt(t + OLDER) == 0);
    }

    /** The call about to be made. */
    public static void call(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) U.putInt(t + CALL, site);
    }

    /** The call of a map about to be made, with its key: in forced runs. */
    public static void call(Object key, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        U.putInt(t + CALL, site);
        if ((FLAGS & (FORCING | SEARCHING)) == FORCING && !hidden(t)) RavelWords.given(t, site, key);
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
        long top = U.getLong(t + TOP);
        if (hidden(t)) {
            U.putInt(push(t, method) + Frame.AGAIN, 0);
        } else if (U.getInt(top - Frame.SIZE + Frame.METHOD) == method) {
            U.putInt(top - Frame.SIZE + Frame.AGAIN, U.getInt(top - Frame.SIZE + Frame.AGAIN) + 1);
        }
    }

    public static void exitLightly(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) popLightly(t, method);
    }

    public static void exitLightlyThrown(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelMonitors.caught(t);
        popLightly(t, method);
    }

    @ForceInline
    private static void popLightly(long t, int method) {
        long f = U.getLong(t + TOP) - Frame.SIZE;
        if (f < U.getLong(t + BOTTOM) || U.getInt(f + Frame.METHOD) != method) return;
        int more = U.getInt(f + Frame.AGAIN);
        if (more > 0) {
            U.putInt(f + Frame.AGAIN, more - 1);
        } else {
            pop(t, method);
        }
    }

    @ForceInline
    private static long push(long t, int method) {
        if ((FLAGS & FORCING) != 0) RavelPoints.whole(t);
        long f = U.getLong(t + TOP);
        if (f == U.getLong(t + STACK_LIMIT)) f = Ravel.grow(t);
        U.putInt(f + Frame.METHOD, method);
        U.putInt(f + Frame.CALL, U.getInt(t + CALL));
        U.putInt(f + Frame.POSITION, U.getInt(t + POSITION));
        U.putInt(f + Frame.STEP, U.getInt(t + STEP));
        U.putLong(f + Frame.LOCK, 0);
        U.putInt(t + CALL, 0);
        U.putLong(t + TOP, f + Frame.SIZE);
        return f;
    }

    /** Enters a synchronized method; its lock is held already. */
    public static void enterLocked(Object lock, int method, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.step(t);
        long object = RavelObjects.identity(lock);
        long f = push(t, method);
        U.putLong(f + Frame.LOCK, object << 1 | 1);
        U.putInt(f + Frame.SITE, site);
        RavelRecords.sync(t, Kind.ACQUIRE, site, object);
    }

    /**
     * Enters a class initialiser. Another thread may run it in the next run, so its positions do not count. In searches other threads may come
     * to need the class now.
     */
    public static void enterInitializer(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if ((FLAGS & SEARCHING) != 0) RavelSearch.step(t);
        push(t, method);
        U.putInt(t + STEP, 0);
    }

    public static void exitInitializer(int method, int type) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelRecords.sync(t, Kind.INITIALIZED, 0, type);
        // Before another thread can use the class: see recordPlain.
        long number = U.getLong(t + MARK);
        long last = U.getLongVolatile(null, INITIALIZATIONS);
        while (last < number && !U.compareAndSetLong(null, INITIALIZATIONS, last, number)) {
            last = U.getLongVolatile(null, INITIALIZATIONS);
        }
        pop(t, method);
    }

    public static void exit(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long f = U.getLong(t + TOP) - Frame.SIZE;
        if (U.getInt(f + Frame.METHOD) == method && U.getLong(f + Frame.LOCK) == 0 && U.getLong(t + WRITTEN) <= f) {
            U.putInt(t + CALL, U.getInt(f + Frame.CALL));
            U.putLong(t + TOP, f);
            return;
        }
        pop(t, method);
    }

    /** Leaves a method by an exception. */
    public static void exitThrown(int method) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelMonitors.caught(t);
        pop(t, method);
    }

    @DontInline
    static void pop(long t, int method) {
        long bottom = U.getLong(t + BOTTOM);
        long f = U.getLong(t + TOP) - Frame.SIZE;
        // A StackOverflowError may have cost us an exit: leave what is above as well.
        while (f > bottom && U.getInt(f + Frame.METHOD) != method) {
            leave(t, f);
            f -= Frame.SIZE;
        }
        if (f < bottom) return;
        if (U.getInt(f + Frame.METHOD) == method) leave(t, f);
    }

    private static void leave(long t, long f) {
        U.putLong(t + TOP, f + Frame.SIZE);
        long lock = U.getLong(f + Frame.LOCK);
        if (lock != 0) {
            if ((FLAGS & FORCING) != 0) RavelForced.ask(t);
            RavelPoints.step(t);
            RavelRecords.sync(t, Kind.RELEASE, U.getInt(f + Frame.SITE), lock >>> 1);
        }
        if (U.getLong(t + WRITTEN) > f) {
            RavelRecords.append(t, Kind.EXIT, 0, U.getInt(t + POSITION), U.getInt(f + Frame.METHOD), 0);
            U.putLong(t + WRITTEN, f);
            U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
        }
        U.putInt(t + STEP, U.getInt(f + Frame.STEP));
        // The caller may be code of the JDK, which goes on inside the program's call of it.
        U.putInt(t + CALL, U.getInt(f + Frame.CALL));
        U.putLong(t + TOP, f);
    }
}
