/* bug:
 *   rule atomicity | atomic-set
 *   variable Visits.count
 *   evidence harmful
 *   outcome exit | value
 * about: Reads an atomic counter and sets it to one more: each call is atomic, the two together are not.
 */
import java.util.concurrent.atomic.AtomicInteger;

public class AtomicGetThenSet {
    static class Visits {
        private final AtomicInteger count = new AtomicInteger();

        void add() {
            int seen = count.get();
            count.set(seen + 1);
        }

        int count() {
            return count.get();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Visits visits = new Visits();
        runBoth(visits::add, visits::add);
        System.out.println("visits " + visits.count());
        if (visits.count() != 2) {
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
