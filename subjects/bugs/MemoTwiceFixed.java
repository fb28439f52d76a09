/* fixed: MemoTwice */
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

public class MemoTwiceFixed {
    static class Prices {
        private final Map<String, Integer> byName = Collections.synchronizedMap(new HashMap<>());
        private final AtomicInteger loads = new AtomicInteger();

        int of(String name) {
            return byName.computeIfAbsent(name, this::load);
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
