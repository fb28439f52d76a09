/* bug:
 *   rule atomicity | failure
 *   variable LockClaimed.Seat.lock | java.util.concurrent.locks.ReentrantLock
 *   evidence confirmed
 *   outcome hang
 * about: a thread takes a seat for good by a lock that it keeps, if the lock is free. If two threads find it free, the second waits for ever.
 */
import java.util.concurrent.locks.ReentrantLock;

public class LockClaimed {
    static class Seat {
        private final ReentrantLock lock = new ReentrantLock();

        boolean claim() {
            if (lock.isLocked()) {
                return false;
            }
            lock.lock();
            return true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Seat seat = new Seat();
        runBoth(seat::claim, seat::claim);
        System.out.println("claimed");
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
