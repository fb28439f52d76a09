/* fault:
 *   exit 0
 *   output exact
 * about: a thousand threads alive at the same time, each adding once under a lock; then another thousand one
 *   after the other
 */
import java.util.concurrent.CountDownLatch;

public class ThousandThreads {
    static int sum;

    static synchronized void add(int amount) {
        sum += amount;
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch alive = new CountDownLatch(1000);
        Thread[] threads = new Thread[1000];
        for (int i = 0; i < threads.length; i++) {
            int amount = i;
            threads[i] = new Thread(null, () -> {
                alive.countDown();
                try {
                    alive.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                add(amount);
            }, "many-" + i, 128 * 1024);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < 1000; i++) {
            Thread thread = new Thread(() -> add(1));
            thread.start();
            thread.join();
        }
        System.out.println(sum);
    }
}
