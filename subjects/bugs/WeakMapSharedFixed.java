/* fixed: WeakMapShared */
import java.util.Map;
import java.util.WeakHashMap;

public class WeakMapSharedFixed {
    static class Cache {
        private final Map<String, Integer> sizes = new WeakHashMap<>();

        synchronized void set(String name, int value) {
            sizes.put(name, value);
        }

        synchronized int size() {
            return sizes.size();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cache cache = new Cache();
        runBoth(() -> cache.set("one", 1), () -> cache.set("three", 3));
        System.out.println("entries " + cache.size());
        if (cache.size() != 2) {
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
