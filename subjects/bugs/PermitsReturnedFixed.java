/* fixed: PermitsReturned
 * about: a thread looks and gives the permit back under one lock.
 */
import java.util.concurrent.Semaphore;

public class PermitsReturnedFixed {
    static class Desk {
        private final Semaphore free = new Semaphore(0);

        synchronized void open() {
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
