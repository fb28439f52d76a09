/* silent
 * Threads ask a lock and a semaphore for their state, and are right whatever they hear: one waits until the lock seems free and then takes it, one
 * comes back later if a permit seems to be taken, one counts what it saw, and one notes that it had to wait.
 */
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

public class LockWatchers {
    static class Ledger {
        private final ReentrantLock lock = new ReentrantLock();
        private final Semaphore slots = new Semaphore(2);
        private final AtomicInteger busy = new AtomicInteger();
        private final AtomicInteger waited = new AtomicInteger();
        private int total;

        void addPolitely(int amount) {
            while (lock.isLocked()) {
                Thread.onSpinWait();
            }
            lock.lock();
            try {
                total += amount;
            } finally {
                lock.unlock();
            }
        }

        void addAndNote(int amount) {
            if (!lock.tryLock()) {
                waited.incrementAndGet();
                lock.lock();
            }
            try {
                total += amount;
            } finally {
                lock.unlock();
            }
        }

        void addInSlot(int amount) throws InterruptedException {
            while (slots.availablePermits() == 0) {
                Thread.sleep(1);
            }
            slots.acquire();
            try {
                addAndNote(amount);
            } finally {
                slots.release();
            }
        }

        void look() {
            if (lock.isLocked() || lock.hasQueuedThreads() || slots.availablePermits() < 2) {
                busy.incrementAndGet();
            }
        }

        int total() {
            lock.lock();
            try {
                return total;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Ledger ledger = new Ledger();
        Thread[] threads = {
            new Thread(() -> ledger.addPolitely(1), "polite"),
            new Thread(() -> ledger.addAndNote(10), "noting"),
            new Thread(() -> inSlot(ledger, 100), "slot"),
            new Thread(() -> inSlot(ledger, 1000), "other"),
            new Thread(ledger::look, "watcher"),
        };
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (ledger.total() != 1111 || ledger.slots.availablePermits() != 2) {
            System.exit(1);
        }
    }

    static void inSlot(Ledger ledger, int amount) {
        try {
            ledger.addInSlot(amount);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
