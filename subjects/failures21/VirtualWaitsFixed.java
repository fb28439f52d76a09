/* fixed: VirtualWaits */
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualWaitsFixed {
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
                open = true;
                opened.signalAll();
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
