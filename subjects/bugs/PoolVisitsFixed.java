/* fixed: PoolVisits */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class PoolVisitsFixed {
    public static void main(String[] args) throws InterruptedException {
        AtomicInteger visits = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            int wait = 100 * i;
            pool.execute(() -> {
                nap(wait);
                visits.incrementAndGet();
            });
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println("visits " + visits.get());
        if (visits.get() != 2) {
            System.exit(1);
        }
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
