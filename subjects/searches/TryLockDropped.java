/* failure:
 *   rule: failure
 *   outcome: exit
 *   place: TryLockDropped.java:42
 * about: a visit is counted only if the lock is free: one that finds it taken is dropped. The program checks its own result and ends with 1.
 */
import java.util.concurrent.locks.ReentrantLock;

public class TryLockDropped {
    private final ReentrantLock lock = new ReentrantLock();
    private int visits;

    void visit() {
        if (lock.tryLock()) {
            try {
                visits++;
            } finally {
                lock.unlock();
            }
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
        TryLockDropped page = new TryLockDropped();
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
