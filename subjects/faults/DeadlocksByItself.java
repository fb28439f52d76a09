/* fault:
 *   exit killed
 *   output exact
 * about: two threads take two locks in opposite orders and are made to meet: a deadlock in every run
 */
import java.util.concurrent.CountDownLatch;

public class DeadlocksByItself {
    static class Lock {
        int uses;
    }

    static void both(Lock first, Lock second, CountDownLatch holding) {
        synchronized (first) {
            first.uses++;
            holding.countDown();
            try {
                holding.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            synchronized (second) {
                second.uses++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Lock red = new Lock();
        Lock blue = new Lock();
        CountDownLatch holding = new CountDownLatch(2);
        Thread t1 = new Thread(() -> both(red, blue, holding), "t1");
        Thread t2 = new Thread(() -> both(blue, red, holding), "t2");
        System.out.println("locking");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("never reached");
    }
}
