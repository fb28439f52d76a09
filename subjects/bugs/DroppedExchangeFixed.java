/* fixed: DroppedExchange
 * Tries until it takes place.
 */
import java.util.concurrent.atomic.AtomicLong;

public class DroppedExchangeFixed {
    static class Meter {
        private final AtomicLong sum = new AtomicLong();

        void add(long more) {
            long old;
            do {
                old = sum.get();
            } while (!sum.compareAndSet(old, old + more));
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Meter meter = new Meter();
        Thread one = new Thread(() -> meter.add(1), "one");
        Thread two = new Thread(() -> meter.add(2), "two");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("sum " + meter.sum);
    }
}
