/* bug:
 *   rule atomicity | atomic-set
 *   variable Prices.byName | SynchronizedMap.*
 *   evidence harmful
 *   outcome exit | value
 * about: containsKey and then put on a synchronized map: in an ordinary run the second thread finds the entry; if both look first, the price is
 *   loaded twice.
 */
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

public class MemoTwice {
    static class Prices {
        private final Map<String, Integer> byName = Collections.synchronizedMap(new HashMap<>());
        private final AtomicInteger loads = new AtomicInteger();

        int of(String name) {
            if (!byName.containsKey(name)) {
                byName.put(name, load(name));
            }
            return byName.get(name);
        }

        private int load(String name) {
            loads.incrementAndGet();
            return name.length();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Prices prices = new Prices();
        runBoth(() -> prices.of("bread"), () -> prices.of("bread"));
        System.out.println("loads " + prices.loads.get());
        if (prices.loads.get() != 1) {
            System.exit(1);
        }
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
