/* bug:
 *   rule data-race | atomicity
 *   variable Cache.sizes | WeakHashMap.*
 *   evidence harmful
 *   outcome exit | value | exception
 * about: Two threads put into one WeakHashMap without a lock: its size misses one.
 */
import java.util.Map;
import java.util.WeakHashMap;

public class WeakMapShared {
    static class Cache {
        private final Map<String, Integer> sizes = new WeakHashMap<>();

        void set(String name, int value) {
            sizes.put(name, value);
        }

        int size() {
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
