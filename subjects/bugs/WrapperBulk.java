/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Inventory.goods
 *   evidence harmful
 *   outcome exception
 * about: A bulk operation of one synchronized list over another: containsAll holds the lock of the first and walks
 *   through the second, which is changed meanwhile under its own lock.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class WrapperBulk {
    static class Inventory {
        private final List<String> goods = Collections.synchronizedList(new ArrayList<>());

        Inventory(String... names) {
            goods.addAll(List.of(names));
        }

        boolean covers(Inventory order) {
            return goods.containsAll(order.goods);
        }

        void add(String name) {
            goods.add(name);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Inventory store = new Inventory("nut", "bolt", "screw");
        Inventory order = new Inventory("nut", "screw");
        runBoth(() -> System.out.println("covered " + store.covers(order)), () -> order.add("bolt"));
        System.out.println("covered " + store.covers(order));
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
