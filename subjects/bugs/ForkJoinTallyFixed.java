/* fixed: ForkJoinTally */
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

public class ForkJoinTallyFixed {
    static class Tally {
        private int sum;

        synchronized void add(int amount) {
            sum += amount;
        }

        synchronized int sum() {
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
