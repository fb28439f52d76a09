/* bug:
 *   rule atomicity | atomic-set
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: A thread waits on a condition for a sum; those that add read it in one critical section and write it in the next.
 */
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class ConditionTwice {
    static class Tally {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private int sum;

        void add(int amount) {
            int seen = sum();
            lock.lock();
            try {
                sum = seen + amount;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        void awaitAny() {
            lock.lock();
            try {
                while (sum == 0) {
                    changed.awaitUninterruptibly();
                }
            } finally {
                lock.unlock();
            }
        }

        int sum() {
            lock.lock();
            try {
                return sum;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        Thread waiter = new Thread(tally::awaitAny, "waiter");
        waiter.start();
        runBoth(() -> tally.add(1), () -> tally.add(10));
        waiter.join();
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
