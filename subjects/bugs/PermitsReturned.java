/* bug:
 *   rule atomicity
 *   variable Semaphore.permits | PermitsReturned.Desk.free
 *   evidence harmful
 *   outcome exit | value
 * about: a desk that nobody uses has one permit. A thread that finds none gives one back: if two find none, the desk has two.
 */
import java.util.concurrent.Semaphore;

public class PermitsReturned {
    static class Desk {
        private final Semaphore free = new Semaphore(0);

        void open() {
            if (free.availablePermits() == 0) {
                free.release();
            }
        }

        int places() {
            return free.availablePermits();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Desk desk = new Desk();
        runBoth(desk::open, desk::open);
        System.out.println("places " + desk.places());
        if (desk.places() != 1) {
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
