package java.lang;

import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Chance;
import java.lang.RavelLayout.Clock;

/** Chance and time, where they are to be the same in every run; see chance.rs. */
public final class RavelChance {
    private RavelChance() {}

    /** Stands for what would make every seed different from the others. */
    public static long zero() {
        return 0;
    }

    /** A seed. */
    public static long chance() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? System.nanoTime() : Ravel.chance(t, Chance.SEED);
    }

    /** The seed of a thread's own generator. */
    public static long local(java.util.concurrent.atomic.AtomicLong seeder, long step) {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? seeder.getAndAdd(step) : Ravel.chance(t, Chance.LOCAL);
    }

    /** The seed of a generator that can be split. */
    public static long splittable(java.util.concurrent.atomic.AtomicLong seeder, long step) {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? seeder.getAndAdd(step) : Ravel.chance(t, Chance.SPLITTABLE);
    }

    /** The seed of a generator of random numbers: it belongs to no thread, and is no point of the program. */
    public static long seed(java.util.concurrent.atomic.AtomicLong seed) {
        return Thread.currentThread().ravel$t == 0 ? seed.get() : U.getLongVolatile(seed, SEED);
    }

    public static boolean moveSeed(java.util.concurrent.atomic.AtomicLong seed, long from, long to) {
        return Thread.currentThread().ravel$t == 0 ? seed.compareAndSet(from, to) : U.compareAndSetLong(seed, SEED, from, to);
    }

    /** Stands for the generator that all threads share. */
    public static double random(java.util.Random shared) {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? shared.nextDouble() : (Ravel.chance(t, Chance.SHARED) >>> 11) * 0x1.0p-53;
    }

    public static long nanos() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? System.nanoTime() : Ravel.clock(t, Clock.NANOS);
    }

    public static long millis() {
        long t = Thread.currentThread().ravel$t;
        return t == 0 ? System.currentTimeMillis() : Ravel.clock(t, Clock.MILLIS);
    }

    /** Stands for {@code VM.getNanoTimeAdjustment}: nanoseconds from a second to now. */
    public static long adjustment(long second) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return jdk.internal.misc.VM.getNanoTimeAdjustment(second);
        long wall = Ravel.clock(t, Clock.WALL_NANOS);
        long away = wall / 1_000_000_000L - second;
        return away > 1L << 32 || away < -(1L << 32) ? -1 : away * 1_000_000_000L + wall % 1_000_000_000L;
    }

    public static void sleep(long millis) throws InterruptedException {
        if (searches() && millis >= 0) {
            RavelSearch.sleep(Thread.currentThread().ravel$t, millis > Long.MAX_VALUE / 1_000_000 ? Long.MAX_VALUE : millis * 1_000_000);
            return;
        }
        timedMillis(millis);
        Thread.sleep(millis);
    }

    public static void sleep(long millis, int nanos) throws InterruptedException {
        long t = Thread.currentThread().ravel$t;
        if (searches() && millis >= 0 && nanos >= 0) {
            RavelSearch.sleep(t, millis > Long.MAX_VALUE / 1_000_001 ? Long.MAX_VALUE : millis * 1_000_000 + nanos);
            return;
        }
        if (t != 0 && millis < Long.MAX_VALUE / 1_000_000) Ravel.timed(t, millis * 1_000_000 + nanos, true);
        Thread.sleep(millis, nanos);
    }

    /** Whether the scheduler of a search lets the thread sleep. */
    private static boolean searches() {
        return Thread.currentThread().ravel$t != 0 && (FLAGS & SEARCHING) != 0;
    }

    /** Before the JDK waits for what is left of a time. */
    public static void timed(long nanos) {
        long t = Thread.currentThread().ravel$t;
        // The scheduler of a search says which waits took their full time.
        if (t != 0 && (FLAGS & SEARCHING) == 0) Ravel.timed(t, nanos, false);
    }

    /** Before the program waits so long at most. */
    public static void timedMillis(long millis) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0 && (FLAGS & SEARCHING) == 0 && millis < Long.MAX_VALUE / 1_000_000) Ravel.timed(t, millis * 1_000_000, true);
    }
}
