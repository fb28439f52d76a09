/* failure:
 *   rule failure
 *   outcome hang
 *   place VirtualWaits.java:21
 * about: A virtual thread waits for a flag that no thread will set any more, and main waits for the virtual thread.
 */
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualWaits {
    static class Gate {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition opened = lock.newCondition();
        private boolean open;
        private int passed;

        void pass() {
            lock.lock();
            try {
                while (!open) {
                    opened.awaitUninterruptibly();
                }
                passed++;
            } finally {
                lock.unlock();
            }
        }

        void open() {
            lock.lock();
            try {
                open = passed > 0;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        Thread guest = Thread.ofVirtual().name("guest").start(gate::pass);
        Thread porter = Thread.ofVirtual().name("porter").start(gate::open);
        porter.join();
        guest.join();
        System.out.println("passed");
    }
}
