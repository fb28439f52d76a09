/* expect:
 *   thread main, t1
 *   wait ReentrantLock == 3 by t1
 *   resume ReentrantLock == 3 by t1
 *   acquire ReentrantLock == 1 by t1
 *   release ReentrantLock == 1 by t1
 *   notify ReentrantLock == 0
 *   notify-all ReentrantLock <= 1 by main
 * about: await with a time, awaitNanos and awaitUntil, all of which run out; main's signalAll before has no waiter
 */
import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class ConditionTimed {
    public static void main(String[] args) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Condition never = lock.newCondition();
        lock.lock();
        never.signalAll();
        lock.unlock();
        Thread t1 = new Thread(() -> {
            lock.lock();
            try {
                System.out.println(never.await(10, TimeUnit.MILLISECONDS));
                System.out.println(never.awaitNanos(1_000_000) > 0);
                System.out.println(never.awaitUntil(new Date(System.currentTimeMillis() + 10)));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } finally {
                lock.unlock();
            }
        }, "t1");
        t1.start();
        t1.join();
    }
}
