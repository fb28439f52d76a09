package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Answer;
import java.lang.RavelLayout.Effect;
import java.lang.RavelLayout.Hint;
import java.lang.RavelLayout.Model;
import java.lang.RavelLayout.ModelFrame;
import java.lang.RavelLayout.Request;
import jdk.internal.misc.Unsafe;

/**
 * Searches: exactly one thread runs, and asks at each point. Waits, parks, joins and sleeps are the scheduler's: a thread that it lets go
 * ({@code FREE}) does for real what it asked for.
 */
public final class RavelSearch {
    private RavelSearch() {}

    /** Points without a decision after which a thread asks all the same: it may wait for another one in a loop. */
    private static final int QUIET_POINTS = 2000;

    /** Ends the threads of a run that is over. */
    static final class Over extends Error {
        Over() {
            super(null, null, false, false);
        }
    }

    /** How often a thread passes points of a run that is over before it is asked to end once more. */
    private static final int PATIENCE = 512;

    /** Before something that would block. */
    private static void checkBlocking(long t, int answer) {
        if (answer != Answer.OVER) return;
        U.putInt(t + ASKED, U.getInt(t + ASKED) | 1);
        throw new Over();
    }

    /**
     * Before something else. A thread is asked to end once, and then again only now and then: it leaves its monitors in handlers that an
     * exception would enter again and again.
     */
    private static void check(long t, int answer) {
        if (answer != Answer.OVER) return;
        int times = U.getInt(t + ASKED);
        U.putInt(t + ASKED, times + 1);
        if (times % PATIENCE == 0) throw new Over();
    }

    static void step(long t) {
        if (U.getInt(t + STEP) != 0) check(t, Ravel.search(t, Request.STEP, 0, 0));
    }

    /** Cells and fields that are kept apart; more of them share places. */
    private static final int PLACES = 1 << 12;
    private static final boolean[] LOUD = new boolean[PLACES];
    private static final long[] CELLS = new long[PLACES];
    private static final int[] THREADS = new int[PLACES];
    private static final int[] NEWEST = new int[PLACES];
    private static final boolean[] WRITTEN = new boolean[PLACES];
    /** The thread that was started last. */
    private static int newest;

    /** A run that is over gets no more threads: a pool makes a new one for each that ends. */
    static void starting(long t) {
        if ((FLAGS & INSIDE_JVM) != 0) checkBlocking(t, Ravel.search(t, Request.LIVES, 0, 0));
    }

    static void started(Thread child) {
        if (child.ravel$n > newest) newest = child.ravel$n;
    }

    /**
     * After an access to a field that threads of the recorded run did not share. If they share it in this one, accesses to it need
     * decisions from now on: a thread that was there already when another one came to the same cell, and one of them writes. Exactly one
     * thread runs, so the tables need no care.
     */
    static void touched(long t, int site, long object, boolean writes) {
        if ((U.getByte(HINTS + site) & Hint.QUIET) == 0) return;
        int field = U.getInt(STATICS + 4L * site);
        if (LOUD[field & PLACES - 1]) return;
        long cell = object << 20 ^ field;
        int place = (int) ((cell * RavelLayout.Hash.MIX) >>> 40) & PLACES - 1;
        int thread = U.getInt(t + THREAD) + 1;
        if (CELLS[place] == cell && THREADS[place] != thread && thread <= NEWEST[place] && (writes || WRITTEN[place])) {
            LOUD[field & PLACES - 1] = true;
            return;
        }
        WRITTEN[place] = writes || CELLS[place] == cell && WRITTEN[place];
        CELLS[place] = cell;
        THREADS[place] = thread;
        NEWEST[place] = newest;
    }

    /** Before an access. Those in class initialisers are no points. */
    static void access(long t, int site) {
        if (U.getInt(t + STEP) == 0) return;
        if ((U.getByte(HINTS + site) & Hint.QUIET) != 0 && !LOUD[U.getInt(STATICS + 4L * site) & PLACES - 1]) {
            int passed = U.getInt(t + PASSED) + 1;
            U.putInt(t + PASSED, passed);
            if (passed % QUIET_POINTS == 0) check(t, Ravel.search(t, Request.YIELD, 0, 0));
            return;
        }
        check(t, Ravel.search(t, Request.ACCESS, site, 0));
    }

    /** Before a monitor is taken. */
    static void monitor(long t, Object lock) {
        checkBlocking(t, Ravel.search(t, Request.MONITOR, RavelObjects.identity(lock), 0));
    }

    /** Before a modelled method. */
    static void call(long t, Object self, int effect) {
        if (U.getInt(t + STEP) == 0) return;
        if (self == null) {
            check(t, Ravel.search(t, Request.STEP, 0, 0));
            return;
        }
        boolean looks = effect == Effect.GET || effect == Effect.MAP_GET || effect == Effect.QUEUE_LOOK || effect == Effect.STATE_READ;
        check(t, Ravel.search(t, looks ? Request.LOOK : Request.CALL, RavelObjects.identity(self), 0));
    }

    /** How long a thread that the scheduler has seen end may take until the JVM says so. */
    private static final long ENDING_MILLIS = 1000;

    /**
     * At the start of {@code Thread.join}: for how long it waits for real. The scheduler says which comes first, the end of the thread or
     * that of the time.
     */
    public static long limit(Thread child, long millis) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || child.ravel$n == 0 || millis < 0) return millis;
        long nanos = millis == 0 ? -1 : millis > Long.MAX_VALUE / 1_000_000 ? Long.MAX_VALUE : millis * 1_000_000;
        int answer = Ravel.search(t, Request.JOIN, child.ravel$n - 1, nanos);
        if (answer == Answer.FREE) return millis;
        checkBlocking(t, answer);
        if (answer != Answer.TIMED_OUT) return millis == 0 || millis > ENDING_MILLIS ? millis : ENDING_MILLIS;
        Ravel.timed(t, nanos, true);
        return 1;
    }

    /** Before {@code Thread.interrupt} sets its flag, with no point in between: the thread would find it unset and wait again. */
    static void sending(long t, Object self, int effect) {
        if (effect != Effect.SEND || !(self instanceof Thread)) return;
        Thread target = (Thread) self;
        if (target.ravel$n != 0) check(t, Ravel.search(t, Request.INTERRUPT, target.ravel$n - 1, 0));
    }

    /**
     * Whether the current thread is interrupted; {@code clear} if it is not from then on. These methods are points where the program calls them,
     * and must be none here: a schedule made of this run's positions would not fit the program without a scheduler.
     */
    private static boolean isInterrupted(Thread thread, long t, boolean clear) {
        thread.ravel$t = 0;
        try {
            return clear ? Thread.interrupted() : thread.isInterrupted();
        } finally {
            thread.ravel$t = t;
        }
    }

    // Calls of the program and of LockSupport that come here instead.

    public static void await(Object lock) throws InterruptedException {
        await(lock, 0, 0);
    }

    public static void await(Object lock, long millis) throws InterruptedException {
        await(lock, millis, 0);
    }

    public static void await(Object lock, long millis, int nanos) throws InterruptedException {
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (t == 0 || lock == null || millis < 0 || nanos < 0 || !Thread.holdsLock(lock)) {
            lock.wait(millis, nanos);
            return;
        }
        if (isInterrupted(thread, t, false)) {
            lock.wait(millis, nanos);
            return;
        }
        long limit = millis == 0 && nanos == 0 ? -1 : millis > Long.MAX_VALUE / 1_000_001 ? Long.MAX_VALUE : millis * 1_000_000 + nanos;
        int depth = 0;
        for (; Thread.holdsLock(lock); depth++) Ravel.unlock(lock);
        int answer;
        try {
            answer = Ravel.search(t, Request.WAIT, RavelObjects.identity(lock), limit);
        } finally {
            for (; depth > 0; depth--) Ravel.lock(lock);
        }
        if (answer == Answer.FREE) {
            lock.wait(millis, nanos);
            return;
        }
        checkBlocking(t, answer);
        if (answer == Answer.TIMED_OUT) Ravel.timed(t, limit, true);
        if (isInterrupted(thread, t, true)) throw new InterruptedException();
    }

    public static void notify(Object lock) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && lock != null && Thread.holdsLock(lock)) check(t, Ravel.search(t, Request.NOTIFY, RavelObjects.identity(lock), 0));
        lock.notify();
    }

    public static void notifyAll(Object lock) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && lock != null && Thread.holdsLock(lock)) check(t, Ravel.search(t, Request.NOTIFY_ALL, RavelObjects.identity(lock), 0));
        lock.notifyAll();
    }

    /** Whether a thread is in a method that gives up after some time and says so. */
    private static boolean tries(long t) {
        long m = U.getLong(t + MODEL);
        if (m == U.getLong(t + MODEL_BASE)) return false;
        int effect = U.getInt(m - ModelFrame.SIZE + ModelFrame.MODEL) & Model.EFFECT;
        return effect == Effect.TRY_LOCK || effect == Effect.TRY_LOCK_SHARED || effect == Effect.TRY_PERMITS;
    }

    public static void park(Unsafe unsafe, boolean absolute, long time) {
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (t == 0) {
            unsafe.park(absolute, time);
            return;
        }
        if (isInterrupted(thread, t, false)) return;
        long limit = time == 0 && !absolute ? -1 : absolute ? (time - Ravel.clock(t, RavelLayout.Clock.MILLIS)) * 1_000_000 : time;
        if (limit < -1) limit = 0;
        int answer = Ravel.search(t, limit >= 0 && tries(t) ? Request.TRY : Request.PARK, 0, limit);
        if (answer == Answer.FREE) {
            unsafe.park(absolute, time);
            return;
        }
        checkBlocking(t, answer);
        if (answer == Answer.TIMED_OUT) Ravel.timed(t, limit, true);
    }

    public static void unpark(Unsafe unsafe, Object thread) {
        Thread target = (Thread) thread;
        long t = Thread.currentThread().ravel$t;
        // Threads that are not recorded park for real.
        if (target.ravel$n != 0) {
            int answer = Ravel.search(t, Request.UNPARK, target.ravel$n - 1, 0);
            if (answer != Answer.FREE) return;
        }
        unsafe.unpark(thread);
    }

    static void sleep(long t, long nanos) throws InterruptedException {
        Thread thread = Thread.currentThread();
        if (isInterrupted(thread, t, true)) throw new InterruptedException();
        int answer = Ravel.search(t, Request.SLEEP, 0, nanos);
        if (answer == Answer.FREE) {
            Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
            return;
        }
        checkBlocking(t, answer);
        Ravel.timed(t, nanos, true);
        if (isInterrupted(thread, t, true)) throw new InterruptedException();
    }

    public static void yield() {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) check(t, Ravel.search(t, Request.YIELD, 0, 0));
    }

    /** Ends the run inside this JVM. */
    static void exit(int status) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) checkBlocking(t, Ravel.search(t, Request.EXIT, status, 0));
    }

    public static void addShutdownHook(Runtime runtime, Thread hook) {
        if ((FLAGS & INSIDE_JVM) == 0) runtime.addShutdownHook(hook);
        else Ravel.obstacle("it has shutdown hooks");
    }
}
