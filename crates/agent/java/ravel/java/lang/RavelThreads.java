package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelLayout.ThreadSort.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Pool;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;

/** Threads: started, begun, ended, interrupted, registered to run at the end. */
public final class RavelThreads {
    private RavelThreads() {}

    /** The pools of the program by their identity hash, in the order in which their first workers start. */
    private static int[] pools = new int[8];
    private static int poolCount;

    /** The threads that the program has registered to run when the JVM ends. */
    private static Thread[] hooks;
    private static int hookCount;

    static synchronized void registered(Thread hook) {
        if (placeOf(hook) >= 0) return;
        if (hooks == null) hooks = new Thread[4];
        if (hookCount == hooks.length) {
            Thread[] more = new Thread[2 * hookCount];
            for (int i = 0; i < hookCount; i++) more[i] = hooks[i];
            hooks = more;
        }
        hooks[hookCount++] = hook;
    }

    /** The place of a thread among the registered ones, -1 if it is none. The JVM starts them in no order that would be the same in the next run. */
    private static synchronized int placeOf(Thread thread) {
        for (int i = 0; i < hookCount; i++) {
            if (hooks[i] == thread) return i;
        }
        return -1;
    }

    /** The number of a pool, the same in another run. */
    private static synchronized int poolOf(ForkJoinPool pool) {
        if (pool == ForkJoinPool.commonPool()) return Pool.COMMON;
        int hash = System.identityHashCode(pool);
        for (int i = 0; i < poolCount; i++) {
            if (pools[i] == hash) return Pool.FIRST + i;
        }
        if (poolCount == pools.length) {
            int[] more = new int[2 * poolCount];
            for (int i = 0; i < poolCount; i++) more[i] = pools[i];
            pools = more;
        }
        pools[poolCount] = hash;
        return Pool.FIRST + poolCount++;
    }

    /** Pools are numbered anew in each run of the program inside one JVM. */
    static synchronized void forgetPools() {
        poolCount = 0;
    }

    /** Whether a thread runs the actions of a Cleaner that the program has made. */
    private static boolean isCleaner(Thread thread) {
        String name = thread.getName();
        return name != null && name.startsWith("Cleaner-");
    }

    /** At the start of Thread.start and its kin. */
    public static void starting(Thread child) {
        Thread current = Thread.currentThread();
        long t = current.ravel$t;
        if (child.ravel$n != 0 || t == 0 && hookCount == 0) return;
        int hook = hookCount == 0 ? -1 : placeOf(child);
        if (t == 0) {
            if (hook < 0) return;
            // The thread that ends the JVM is not the program's, and known only now that it starts one that is.
            Ravel.adopt(current);
            t = current.ravel$t;
            if (t == 0) return;
        }
        boolean cleaner = false;
        if (child instanceof jdk.internal.misc.InnocuousThread) {
            cleaner = isCleaner(child);
            if (!cleaner) return;
        }
        String kind = child.getClass().getName();
        // In a forced run a carrier is not known at all: it must not wait for a turn, because virtual threads wait for it.
        if ((FLAGS & FORCING) != 0 && kind.equals("jdk.internal.misc.CarrierThread")) return;
        // A pool starts its workers in the thread that finds it busy, another one in each run: that is no point of the program.
        int pool = cleaner ? Pool.CLEANERS
                : child instanceof ForkJoinWorkerThread ? poolOf(((ForkJoinWorkerThread) child).getPool())
                : kind.equals("java.util.concurrent.DelayScheduler") ? Pool.DELAYS
                : kind.startsWith("kotlinx.coroutines.scheduling.") ? Pool.COROUTINES : -1;
        if (pool < 0 && hook < 0) {
            if ((FLAGS & FORCING) != 0) RavelForced.ask(t);
            RavelPoints.step(t);
        }
        if ((FLAGS & SEARCHING) != 0) RavelSearch.starting(t);
        RavelRecords.frames(t);
        U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
        RavelRepeats.release(t);
        // What was done before it was registered happens before it runs.
        if (hook >= 0) RavelRecords.sync(t, Kind.RECEIVE, 0, RavelObjects.identity(child));
        Ravel.fork(t, child, hook >= 0 ? HOOK + hook : pool >= 0 ? ON_DEMAND - pool : STARTED);
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
