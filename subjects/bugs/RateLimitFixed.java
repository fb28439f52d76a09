/* fixed: RateLimit */
import java.util.concurrent.atomic.AtomicInteger;

public class RateLimitFixed {
    static class Limiter {
        private final AtomicInteger used = new AtomicInteger();

        boolean enter() {
            return used.getAndUpdate(count -> Math.min(count + 1, 1)) < 1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Limiter limiter = new Limiter();
        runBoth(limiter::enter, limiter::enter);
        if (limiter.used.get() > 1) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
