/* expect:
 *   thread main, t1, t2
 *   wait ReentrantLock >= 1 by t1
 *   resume ReentrantLock >= 1 by t1
 *   notify ReentrantLock == 1 by t2
 *   acquire ReentrantLock == 1 by t2
 *   release ReentrantLock == 1 by t2
 *   write Slot.full == 1 by t2
 * about: await until signalled; t2 signals once t1 waits
 */
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class Conditions {
    static class Slot {
        final ReentrantLock lock = new ReentrantLock();
        final Condition filled = lock.newCondition();
        boolean full;

        void fill() {
            lock.lock();
            try {
                full = true;
                filled.signal();
            } finally {
                lock.unlock();
            }
        }

        void take() {
            lock.lock();
            try {
                while (!full) {
                    filled.awaitUninterruptibly();
                }
                full = false;
            } finally {
                lock.unlock();
            }
        }

        boolean hasWaiter() {
            lock.lock();
            try {
                return lock.hasWaiters(filled);
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Slot slot = new Slot();
        slot.fill();
        slot.take();
        Thread t1 = new Thread(slot::take, "t1");
        t1.start();
        while (!slot.hasWaiter()) {
            Thread.sleep(1);
        }
        Thread t2 = new Thread(slot::fill, "t2");
        t2.start();
        t1.join();
        t2.join();
        System.out.println(slot.full);
    }
}
