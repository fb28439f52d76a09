/* bug:
 *   rule data-race | atomic-set | atomicity
 *   variable Wallet.left | Wallet.right
 *   evidence harmful
 *   outcome exit | value
 * about: An optimistic read of two fields whose validation is ignored: a writer may come between.
 */
import java.util.concurrent.locks.StampedLock;

public class StampedIgnored {
    static class Wallet {
        private final StampedLock lock = new StampedLock();
        private int left = 5;
        private int right = 5;

        void shift(int amount) {
            long stamp = lock.writeLock();
            try {
                left -= amount;
                right += amount;
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        int sum() {
            long stamp = lock.tryOptimisticRead();
            int sum = left + right;
            lock.validate(stamp);
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Wallet purse = new Wallet();
        int[] seen = new int[1];
        runBoth(() -> purse.shift(2), () -> seen[0] = purse.sum());
        System.out.println("sum " + seen[0]);
        if (seen[0] != 10) {
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
