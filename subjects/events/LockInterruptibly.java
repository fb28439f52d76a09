/* expect:
 *   thread main, t1
 *   acquire ReentrantLock == 1 by t1
 *   release ReentrantLock == 1 by t1
 * about: lockInterruptibly, first interrupted while main holds the lock, then with success
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

public class LockInterruptibly {
    public static void main(String[] args) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch freed = new CountDownLatch(1);
        lock.lock();
        Thread t1 = new Thread(() -> {
            try {
                lock.lockInterruptibly();
                System.out.println("unexpected");
            } catch (InterruptedException e) {
                System.out.println("interrupted, holds " + lock.isHeldByCurrentThread());
            }
            try {
                freed.await();
                lock.lockInterruptibly();
                System.out.println("holds " + lock.isHeldByCurrentThread());
                lock.unlock();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        t1.start();
        while (!lock.hasQueuedThread(t1)) {
            Thread.sleep(1);
        }
        t1.interrupt();
        while (lock.hasQueuedThread(t1)) {
            Thread.sleep(1);
        }
        lock.unlock();
        freed.countDown();
        t1.join();
    }
}
