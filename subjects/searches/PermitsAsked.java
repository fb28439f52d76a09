/* failure:
 *   rule: failure
 *   outcome: exit
 *   place: PermitsAsked.java:26
 * about: a thread asks whether there is a permit and then counts on it: two threads go in with one permit, and each gives one back.
 */
import java.util.concurrent.Semaphore;

public class PermitsAsked {
    static class Room {
        final Semaphore permits = new Semaphore(1);

        void visit() {
            if (permits.availablePermits() > 0) {
                permits.tryAcquire();
                permits.release();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Room room = new Room();
        runBoth(room::visit, room::visit);
        System.out.println("permits " + room.permits.availablePermits());
        if (room.permits.availablePermits() != 1) {
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
