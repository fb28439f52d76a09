/* bug:
 *   rule atomicity | atomic-set
 *   variable Meter.sum
 *   evidence harmful
 *   outcome value | exit | output
 * about: A compare-and-set that nobody asks whether it took place: what it was to add is lost.
 */
import java.util.concurrent.atomic.AtomicLong;

public class DroppedExchange {
    static class Meter {
        private final AtomicLong sum = new AtomicLong();

        void add(long more) {
            long old = sum.get();
            sum.compareAndSet(old, old + more);
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
