/* fixed: ForkedTally */
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

public class ForkedTallyFixed {
    private int sum;

    synchronized int get() {
        return sum;
    }

    synchronized void set(int value) {
        sum = value;
    }

    synchronized void add(int amount) {
        set(get() + amount);
    }

    public static void main(String[] args) {
        ForkedTallyFixed tally = new ForkedTallyFixed();
        ForkJoinPool pool = new ForkJoinPool(2);
        ForkJoinTask<?> one = pool.submit(() -> tally.add(1));
        ForkJoinTask<?> two = pool.submit(() -> tally.add(2));
        one.join();
        two.join();
        pool.shutdown();
        if (tally.get() != 3) {
            throw new IllegalStateException("the sum is " + tally.get());
        }
    }
}
