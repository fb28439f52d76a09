/* failure:
 *   rule: failure
 *   outcome: exit
 *   place: LockAsked.java:39
 * about: a reader asks whether the lock is free and then reads without it: a writer takes the lock in between.
 */
import java.util.concurrent.locks.ReentrantLock;

public class LockAsked {
    static class Point {
        private final ReentrantLock lock = new ReentrantLock();
        private volatile int x;
        private volatile int y;

        void move(int to) {
            lock.lock();
            try {
                x = to;
                y = to;
            } finally {
                lock.unlock();
            }
        }

        int difference() {
            if (lock.isLocked()) {
                return 0;
            }
            return x - y;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Point point = new Point();
        int[] seen = new int[1];
        runBoth(() -> point.move(5), () -> seen[0] = point.difference());
        System.out.println("difference " + seen[0]);
        if (seen[0] != 0) {
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
