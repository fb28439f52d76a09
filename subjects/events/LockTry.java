/* expect:
 *   thread main, t1
 *   acquire ReentrantLock == 2 by t1
 *   release ReentrantLock == 2 by t1
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: tryLock without and with a time, each failing once (main holds the lock) and succeeding once
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class LockTry {
    public static void main(String[] args) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch failed = new CountDownLatch(1);
        CountDownLatch freed = new CountDownLatch(1);
        lock.lock();
        Thread t1 = new Thread(() -> {
            try {
                System.out.println(lock.tryLock());
                System.out.println(lock.tryLock(10, TimeUnit.MILLISECONDS));
                failed.countDown();
                freed.await();
                System.out.println(lock.tryLock());
                lock.unlock();
                System.out.println(lock.tryLock(10, TimeUnit.SECONDS));
                lock.unlock();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        t1.start();
        failed.await();
        lock.unlock();
        freed.countDown();
        t1.join();
    }
}
