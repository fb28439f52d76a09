package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;

/** Threads: started, begun, ended, interrupted. */
public final class RavelThreads {
    private RavelThreads() {}

    /** At the start of Thread.start and its kin. */
    public static void starting(Thread child) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || child.ravel$n != 0 || child instanceof jdk.internal.misc.InnocuousThread) return;
        String kind = child.getClass().getName();
        // In a forced run a carrier is not known at all: it must not wait for a turn, because virtual threads wait for it.
        if ((FLAGS & FORCING) != 0 && kind.equals("jdk.internal.misc.CarrierThread")) return;
        // A pool starts its workers in the thread that finds it busy, another one in each run: that is no point of the program.
        boolean worker = child instanceof java.util.concurrent.ForkJoinWorkerThread
                || kind.equals("java.util.concurrent.DelayScheduler")
                || kind.startsWith("kotlinx.coroutines.scheduling.");
        if (!worker) {
            if ((FLAGS & FORCING) != 0) RavelForced.ask(t);
            RavelPoints.step(t);
        }
        RavelRecords.frames(t);
        U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
        RavelRepeats.release(t);
        Ravel.fork(t, child, worker);
        if ((FLAGS & SEARCHING) != 0) RavelSearch.started(child);
    }

    /** Virtual threads begin and end in Java code. */
    public static void beginning() {
        Thread thread = Thread.currentThread();
        if (thread.ravel$t != 0) Ravel.began(thread);
    }

    public static void ending() {
        Thread thread = Thread.currentThread();
        if (thread.ravel$t != 0) Ravel.ended(thread);
    }

    public static void uncaught(Thread thread, Throwable exception) {
        long t = thread.ravel$t;
        if (t == 0 || exception instanceof RavelSearch.Over) return;
        // Code of the JDK makes the words: it is not part of what the program does.
        thread.ravel$t = 0;
        String stack = RavelFailures.uncaught(thread, exception);
        thread.ravel$t = t;
        Ravel.died(thread, exception, stack);
    }

    /** After {@code isAlive}: a thread that sees another one dead has seen all that it did. */
    public static void alive(int result, Thread child) {
        long t = Thread.currentThread().ravel$t;
        if (result != 0 || t == 0 || !hasEnded(child.ravel$n) || RavelMethods.hidden(t)) return;
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.JOIN, U.getInt(t + CALL), child.ravel$n - 1);
    }

    /** Whether a thread has ended, by its number and one; 0 is a thread that is not recorded. */
    static boolean hasEnded(int number) {
        return number > 0 && U.getByteVolatile(null, ENDS + number - 1) != 0;
    }

    /** At the start of a handler: an interrupted thread has seen everything that the interrupter did before. */
    public static void interrupted(Throwable thrown) {
        if (!(thrown instanceof InterruptedException)) return;
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (t != 0) RavelRecords.sync(t, Kind.RECEIVE, U.getInt(t + CALL), RavelObjects.identity(thread));
    }
}
