/* failure:
 *   rule failure
 *   outcome hang
 *   place EndsWithLock.java:29
 * about: a thread returns early and keeps its ReentrantLock for ever
 */
import java.util.concurrent.locks.ReentrantLock;

public class EndsWithLock {
    static final ReentrantLock LOCK = new ReentrantLock();
    static int value;

    static void early() {
        LOCK.lock();
        value++;
        if (value == 1) {
            return;
        }
        LOCK.unlock();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(EndsWithLock::early, "first");
        first.start();
        first.join();
        Thread second = new Thread(() -> {
            // The owner has ended.
            // No thread can release it.
            LOCK.lock();
            value++;
            LOCK.unlock();
        }, "second");
        second.start();
        second.join();
        System.out.println("never reached");
    }
}
