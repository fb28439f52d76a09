/* bug:
 *   rule atomicity | atomic-set
 *   variable Till.total
 *   evidence harmful
 *   outcome value
 * about: a lost update beside the thread of a timer, which wakes up again and again and does nothing that counts.
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class TickerBeside {
    static final class Till {
        private int total;

        synchronized int total() {
            return total;
        }

        synchronized void set(int value) {
            total = value;
        }

        void add(int amount) {
            set(total() + amount);
        }
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService ticker = Executors.newSingleThreadScheduledExecutor();
        CountDownLatch ready = new CountDownLatch(1);
        ticker.execute(ready::countDown);
        ticker.scheduleAtFixedRate(System.out::flush, 0, 40, TimeUnit.MILLISECONDS);
        ready.await();
        Till till = new Till();
        Thread first = new Thread(() -> till.add(1), "first");
        Thread second = new Thread(() -> till.add(2), "second");
        first.start();
        second.start();
        first.join();
        second.join();
        ticker.shutdown();
        System.out.println(till.total() > 0);
    }
}
