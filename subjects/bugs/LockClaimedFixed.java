/* fixed: LockClaimed
 * about: a thread takes the lock if it is free, in one step.
 */
import java.util.concurrent.locks.ReentrantLock;

public class LockClaimedFixed {
    static class Seat {
        private final ReentrantLock lock = new ReentrantLock();

        boolean claim() {
            return !lock.isLocked() && lock.tryLock();
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
