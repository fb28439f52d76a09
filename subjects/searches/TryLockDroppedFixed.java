/* fixed: TryLockDropped
 * A visit waits for the lock.
 */
import java.util.concurrent.locks.ReentrantLock;

public class TryLockDroppedFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private int visits;

    void visit() {
        lock.lock();
        try {
            visits++;
        } finally {
            lock.unlock();
        }
    }

    int visits() {
        lock.lock();
        try {
            return visits;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TryLockDroppedFixed page = new TryLockDroppedFixed();
        Thread one = new Thread(page::visit, "one");
        Thread two = new Thread(page::visit, "two");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("visits " + page.visits());
        if (page.visits() != 2) {
            System.exit(1);
        }
    }
}
