/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: LockedLate.java:24
 * about: a pool of two permits behind a semaphore and a lock: a thread reads which slot is free before it has the lock, so two may take the same one.
 */
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

public class LockedLate {
    private final Semaphore permits = new Semaphore(2);
    private final ReentrantLock lock = new ReentrantLock();
    private final boolean[] taken = new boolean[2];

    private int free() {
        return taken[0] ? 1 : 0;
    }

    void use() {
        permits.acquireUninterruptibly();
        int slot = free();
        lock.lock();
        try {
            if (taken[slot]) throw new IllegalStateException("slot " + slot + " is taken");
            taken[slot] = true;
        } finally {
            lock.unlock();
        }
        lock.lock();
        try {
            taken[slot] = false;
        } finally {
            lock.unlock();
        }
        permits.release();
    }

    public static void main(String[] args) throws InterruptedException {
        LockedLate pool = new LockedLate();
        Thread one = new Thread(pool::use, "one");
        Thread two = new Thread(pool::use, "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
