/* bug:
 *   rule data-race | atomicity
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: A semaphore that should let one thread in has two permits.
 */
import java.util.concurrent.Semaphore;

public class SemaphoreTwo {
    static class Tally {
        private final Semaphore turn = new Semaphore(2);
        private int sum;

        void add(int amount) {
            turn.acquireUninterruptibly();
            sum += amount;
            turn.release();
        }

        int sum() {
            return sum;
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
