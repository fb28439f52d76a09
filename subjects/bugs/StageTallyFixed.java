/* fixed: StageTally */
import java.util.concurrent.CompletableFuture;

public class StageTallyFixed {
    static class Tally {
        private int sum;

        synchronized void add(int amount) {
            sum += amount;
        }

        synchronized int sum() {
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
