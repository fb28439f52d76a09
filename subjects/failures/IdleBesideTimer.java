/* silent
 * A pool is idle and the main thread waits while a timer sleeps, which will wake them.
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class IdleBesideTimer {
    static int turns;

    static synchronized void count() {
        turns++;
    }

    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.execute(IdleBesideTimer::count);
        pool.execute(IdleBesideTimer::count);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        CountDownLatch done = new CountDownLatch(1);
        timer.schedule(() -> {
            count();
            done.countDown();
        }, 6, TimeUnit.SECONDS);
        done.await();
        pool.shutdown();
        timer.shutdown();
        System.out.println("done");
    }
}
