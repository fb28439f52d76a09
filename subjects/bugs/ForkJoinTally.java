/* bug:
 *   rule data-race | atomicity
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: A task of a ForkJoinPool and the thread that joins it add to a common sum without a lock.
 */
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

public class ForkJoinTally {
    static class Tally {
        private int sum;

        void add(int amount) {
            sum += amount;
        }

        int sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        ForkJoinPool pool = new ForkJoinPool(1);
        ForkJoinTask<?> task = pool.submit(() -> {
            nap(100);
            tally.add(10);
        });
        tally.add(1);
        task.join();
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
