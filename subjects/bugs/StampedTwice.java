/* bug:
 *   rule atomicity | atomic-set
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: The read lock is given up before the write lock of a StampedLock is taken.
 */
import java.util.concurrent.locks.StampedLock;

public class StampedTwice {
    static class Tally {
        private final StampedLock lock = new StampedLock();
        private int sum;

        void add(int amount) {
            int seen = sum();
            long stamp = lock.writeLock();
            try {
                sum = seen + amount;
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        int sum() {
            long stamp = lock.readLock();
            try {
                return sum;
            } finally {
                lock.unlockRead(stamp);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        runBoth(() -> tally.add(1), () -> tally.add(10));
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
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
