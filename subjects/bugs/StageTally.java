/* bug:
 *   rule data-race | atomicity
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: Two stages of CompletableFuture in the common pool add to a common sum without a lock. On two processors the pool has one worker by
 *   default, which runs both, one after the other.
 */
import java.util.concurrent.CompletableFuture;

public class StageTally {
    static class Tally {
        private int sum;

        void add(int amount) {
            sum += amount;
        }

        int sum() {
            return sum;
        }
    }

    public static void main(String[] args) {
        Tally tally = new Tally();
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> tally.add(1));
        CompletableFuture<Void> second = CompletableFuture.runAsync(() -> tally.add(10));
        CompletableFuture.allOf(first, second).join();
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
            System.exit(1);
        }
    }
}
