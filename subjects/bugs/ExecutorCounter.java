/* bug:
 *   rule data-race | atomicity
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: Tasks of a thread pool add to a common sum without a lock.
 */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class ExecutorCounter {
    static class Tally {
        private int sum;

        void add(int amount) {
            sum += amount;
        }

        int sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws Exception {
        Tally tally = new Tally();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> first = pool.submit(() -> tally.add(1));
        Future<?> second = pool.submit(() -> {
            nap(100);
            tally.add(10);
        });
        first.get();
        second.get();
        pool.shutdown();
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
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
