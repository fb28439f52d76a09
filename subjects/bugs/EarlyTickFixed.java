/* fixed: EarlyTick */
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

public class EarlyTickFixed {
    private static final AtomicInteger TICKS = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        Timer timer = new Timer("timer", true);
        CountDownLatch rung = new CountDownLatch(1);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                TICKS.incrementAndGet();
                rung.countDown();
            }
        }, 100);
        TICKS.incrementAndGet();
        rung.await();
        if (TICKS.get() != 2) {
            System.exit(1);
        }
    }
}
