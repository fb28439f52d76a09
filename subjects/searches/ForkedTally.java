/* failure:
 *   outcome: exception
 * about: Two tasks of a fork-join pool add to a number by two synchronized calls. Such a pool parks its workers by itself, not through
 *   LockSupport, in JDK 25.
 */
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

public class ForkedTally {
    private int sum;

    synchronized int get() {
        return sum;
    }

    synchronized void set(int value) {
        sum = value;
    }

    void add(int amount) {
        set(get() + amount);
    }

    public static void main(String[] args) {
        ForkedTally tally = new ForkedTally();
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
