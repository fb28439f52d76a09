/* expect:
 *   thread main, t1
 *   acquire ReentrantLock == 1 by t1
 *   release ReentrantLock == 1 by t1
 * about: an unlock without the lock throws and releases nothing
 */
import java.util.concurrent.locks.ReentrantLock;

public class LockMisuse {
    public static void main(String[] args) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        lock.unlock();
        Thread t1 = new Thread(() -> {
            lock.lock();
            lock.unlock();
            try {
                lock.unlock();
            } catch (IllegalMonitorStateException e) {
                System.out.println("not held");
            }
        }, "t1");
        t1.start();
        t1.join();
    }
}
