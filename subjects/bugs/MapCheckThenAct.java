/* bug:
 *   rule atomicity | atomic-set
 *   variable Registry.numbers
 *   evidence harmful
 *   outcome exit | value
 * about: Looks whether the map has a key and puts it if not, in two calls. Two threads find the key missing, and the
 *   second replaces what the first has put.
 */
import java.util.concurrent.ConcurrentHashMap;

public class MapCheckThenAct {
    static class Registry {
        private final ConcurrentHashMap<String, Integer> numbers = new ConcurrentHashMap<>();

        int add(String name, int number) {
            Integer old = numbers.get(name);
            int next = old == null ? number : old + number;
            numbers.put(name, next);
            return next;
        }

        int get(String name) {
            return numbers.get(name);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Registry registry = new Registry();
        runBoth(() -> registry.add("apples", 1), () -> registry.add("apples", 10));
        System.out.println("apples " + registry.get("apples"));
        if (registry.get("apples") != 11) {
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
