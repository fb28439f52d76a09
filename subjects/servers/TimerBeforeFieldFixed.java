/* fixed: TimerBeforeField
 * about: The callback waits until the order is open.
 */
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class TimerBeforeFieldFixed {
    private static final int SHOPS = 3;
    private static final int ORDERS = 20;

    static class Order {
        Future<?> timer;

        synchronized void open(ScheduledExecutorService clock, CountDownLatch open) {
            timer = clock.schedule(() -> expire(open), 5, TimeUnit.MILLISECONDS);
        }

        synchronized void expire(CountDownLatch open) {
            if (!timer.isCancelled()) {
                open.countDown();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(2);
        CountDownLatch open = new CountDownLatch(SHOPS * ORDERS);
        Thread[] shops = new Thread[SHOPS];
        for (int i = 0; i < SHOPS; i++) {
            shops[i] = new Thread(() -> sell(clock, open), "shop-" + i);
            shops[i].start();
        }
        for (Thread shop : shops) {
            shop.join();
        }
        boolean all = open.await(1, TimeUnit.SECONDS);
        System.out.println(all ? "all orders have expired" : "orders are left");
        clock.shutdownNow();
        System.exit(all ? 0 : 1);
    }

    private static void sell(ScheduledExecutorService clock, CountDownLatch open) {
        Random random = new Random();
        for (int i = 0; i < ORDERS; i++) {
            new Order().open(clock, open);
            try {
                Thread.sleep(random.nextInt(15));
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }
}
