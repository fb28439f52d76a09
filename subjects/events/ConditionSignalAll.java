/* expect:
 *   thread main, t1, t2, opener
 *   wait ReentrantLock >= 2
 *   resume ReentrantLock >= 2
 *   notify-all ReentrantLock == 1 by opener
 * about: two waiters and one signalAll
 */
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class ConditionSignalAll {
    static final Lock lock = new ReentrantLock();
    static final Condition changed = lock.newCondition();
    static boolean open;
    static int waiting;

    static void pass() {
        lock.lock();
        try {
            waiting++;
            while (!open) {
                changed.await();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            lock.unlock();
        }
    }

    static int waiting() {
        lock.lock();
        try {
            return waiting;
        } finally {
            lock.unlock();
        }
    }

    static void open() {
        lock.lock();
        try {
            open = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        waiting();
        Thread t1 = new Thread(ConditionSignalAll::pass, "t1");
        Thread t2 = new Thread(ConditionSignalAll::pass, "t2");
        t1.start();
        t2.start();
        while (waiting() < 2) {
            Thread.sleep(1);
        }
        Thread opener = new Thread(ConditionSignalAll::open, "opener");
        opener.start();
        t1.join();
        t2.join();
        opener.join();
        System.out.println(waiting);
    }
}
