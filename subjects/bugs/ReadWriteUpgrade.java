/* bug:
 *   rule atomicity | atomic-set
 *   variable Cache.value
 *   evidence harmful
 *   outcome exit | value
 * about: Reads under the read lock, gives it up and takes the write lock to store what it computed: another writer in
 *   between is overwritten.
 */
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadWriteUpgrade {
    static class Cache {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private int value = 1;

        void add(int amount) {
            int seen;
            lock.readLock().lock();
            try {
                seen = value;
            } finally {
                lock.readLock().unlock();
            }
            lock.writeLock().lock();
            try {
                value = seen + amount;
            } finally {
                lock.writeLock().unlock();
            }
        }

        int value() {
            lock.readLock().lock();
            try {
                return value;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cache cache = new Cache();
        runBoth(() -> cache.add(10), () -> cache.add(100));
        System.out.println("value " + cache.value());
        if (cache.value() != 111) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
