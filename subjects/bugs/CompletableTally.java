/* bug:
 *   rule data-race | atomicity
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: Two stages of CompletableFuture, which nothing orders, add to a common sum without a lock.
 */
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class CompletableTally {
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
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> tally.add(1), pool);
        CompletableFuture<Void> second = CompletableFuture.runAsync(() -> {
            nap(100);
            tally.add(10);
        }, pool);
        CompletableFuture.allOf(first, second).join();
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
