package java.lang;

import java.util.concurrent.Semaphore;

/**
 * The permits of a semaphore, as far as they tell which acquisition needed which release.
 *
 * <p>A permit is new, or the thread that gave it back last is known. An acquisition takes those that its own thread has given back, then
 * new ones, and only then those of other threads: it comes after their releases only if it could not have been made without them. Permits
 * are alike, so this choice is as good as any other.
 */
final class RavelPermits {
    private static final RavelPermits[] ALL = new RavelPermits[1 << 8];

    private final long semaphore;
    private final RavelPermits next;
    private long fresh;
    /** How many each thread has given back. */
    private int[] threads = new int[2];
    private long[] given = new long[2];
    private int known;

    private RavelPermits(long semaphore, long fresh, RavelPermits next) {
        this.semaphore = semaphore;
        this.fresh = fresh;
        this.next = next;
    }

    /** Before the first operation on a semaphore all its permits are new. */
    static RavelPermits of(long id, Object semaphore) {
        int slot = (int) id & ALL.length - 1;
        synchronized (ALL) {
            for (RavelPermits p = ALL[slot]; p != null; p = p.next) {
                if (p.semaphore == id) return p;
            }
            long fresh = semaphore == null ? 0 : available((Semaphore) semaphore);
            return ALL[slot] = new RavelPermits(id, fresh, ALL[slot]);
        }
    }

    /** This question is not the program's. */
    private static int available(Semaphore semaphore) {
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        thread.ravel$t = 0;
        try {
            return semaphore.availablePermits();
        } finally {
            thread.ravel$t = t;
        }
    }

    /** A thread gives permits back, or adds some. */
    synchronized void give(int thread, long count) {
        int place = 0;
        while (place < known && threads[place] != thread) place++;
        if (place == known) {
            if (known == threads.length) {
                threads = java.util.Arrays.copyOf(threads, 2 * known);
                given = java.util.Arrays.copyOf(given, 2 * known);
            }
            threads[known++] = thread;
        }
        given[place] += count;
    }

    /** A thread has taken permits; gives whether some of them are not its own and not new. */
    synchronized boolean take(int thread, long count) {
        for (int i = 0; i < known; i++) {
            if (threads[i] == thread) count = takeFrom(i, count);
        }
        long part = Math.min(count, Math.max(fresh, 0));
        fresh -= part;
        count -= part;
        boolean others = count > 0;
        for (int i = 0; i < known; i++) count = takeFrom(i, count);
        return others;
    }

    /** Takes what there is in one place; gives how many are still to be taken. */
    private long takeFrom(int place, long count) {
        long part = Math.min(count, given[place]);
        given[place] -= part;
        return count - part;
    }

    /** All permits that are left are taken, or there are less of them now: none counts as new or as given back by a thread. */
    synchronized void drain() {
        fresh = 0;
        for (int i = 0; i < known; i++) given[i] = 0;
    }
}
