/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable ReadLocked.Stats.total | ReadLocked.Stats.count
 *   evidence harmful
 *   outcome value
 * about: Adding takes the read lock, which any number of threads can hold. A pool of three threads has six tasks: the third thread runs
 *   freely beside the two of any pattern.
 */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadLocked {
    static class Stats {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private long total;
        private int count;

        void add(long amount) {
            lock.readLock().lock();
            try {
                total += amount;
                count++;
            } finally {
                lock.readLock().unlock();
            }
        }

        double mean() {
            lock.readLock().lock();
            try {
                return count == 0 ? 0 : (double) total / count;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stats stats = new Stats();
        ExecutorService pool = Executors.newFixedThreadPool(3);
        for (int i = 1; i <= 6; i++) {
            int amount = i;
            pool.execute(() -> stats.add(amount));
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println("mean " + stats.mean());
    }
}
