/* bug:
 *   rule data-race | atomicity | atomic-set | unserializable
 *   variable Prices.prices
 *   evidence harmful
 *   outcome exception
 * about: A loop over a synchronized list does not hold its lock: an addition in the middle ends it with an exception.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class IteratorOverSynchronized {
    static class Prices {
        private final List<Integer> prices = Collections.synchronizedList(new ArrayList<>());

        void add(int price) {
            prices.add(price);
        }

        int sum() {
            int sum = 0;
            for (int price : prices) {
                sum += price;
            }
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Prices prices = new Prices();
        prices.add(1);
        prices.add(2);
        runBoth(prices::sum, () -> prices.add(3));
        System.out.println("sum " + prices.sum());
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
