/* silent
 * Compare-and-set loops that tell how often they had to try: a number that no serial order prints or returns, and nothing is wrong.
 */
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

public class RetryCount {
    static class Meter {
        private final AtomicLong sum = new AtomicLong();
        private final AtomicInteger retries = new AtomicInteger();

        void add(long more) {
            while (true) {
                long old = sum.get();
                if (sum.compareAndSet(old, old + more)) {
                    return;
                }
                retries.incrementAndGet();
            }
        }

        boolean tryAdd(long more) {
            long old = sum.get();
            return sum.compareAndSet(old, old + more);
        }
    }

    static void addAll(Meter meter) {
        meter.add(1);
        while (!meter.tryAdd(2)) {
            Thread.onSpinWait();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Meter meter = new Meter();
        Thread one = new Thread(() -> addAll(meter), "one");
        Thread two = new Thread(() -> addAll(meter), "two");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("sum " + meter.sum + " after " + meter.retries + " retries");
    }
}
