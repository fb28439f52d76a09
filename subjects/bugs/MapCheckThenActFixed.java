/* fixed: MapCheckThenAct */
import java.util.concurrent.ConcurrentHashMap;

public class MapCheckThenActFixed {
    static class Registry {
        private final ConcurrentHashMap<String, Integer> numbers = new ConcurrentHashMap<>();

        int add(String name, int number) {
            return numbers.merge(name, number, Integer::sum);
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
