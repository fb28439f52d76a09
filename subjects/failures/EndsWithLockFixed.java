/* fixed: EndsWithLock */
import java.util.concurrent.locks.ReentrantLock;

public class EndsWithLockFixed {
    static final ReentrantLock LOCK = new ReentrantLock();
    static int value;

    static void early() {
        LOCK.lock();
        try {
            value++;
        } finally {
            LOCK.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(EndsWithLockFixed::early, "first");
        first.start();
        first.join();
        Thread second = new Thread(EndsWithLockFixed::early, "second");
        second.start();
        second.join();
        System.out.println("done");
    }
}
