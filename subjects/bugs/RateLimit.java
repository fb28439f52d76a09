/* bug:
 *   rule atomicity
 *   variable Limiter.used
 *   evidence harmful
 *   outcome exit | value
 * about: Looks whether the limit is reached and counts in a second step. In the recorded run the second caller is turned away, so
 *   that the trace has none of what it would do: only another order shows that both get in.
 */
import java.util.concurrent.atomic.AtomicInteger;

public class RateLimit {
    static class Limiter {
        private final AtomicInteger used = new AtomicInteger();

        boolean enter() {
            if (used.get() < 1) {
                used.incrementAndGet();
                return true;
            }
            return false;
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
