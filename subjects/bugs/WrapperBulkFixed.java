/* fixed: WrapperBulk */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class WrapperBulkFixed {
    static class Inventory {
        private final List<String> goods = Collections.synchronizedList(new ArrayList<>());

        Inventory(String... names) {
            goods.addAll(List.of(names));
        }

        boolean covers(Inventory order) {
            synchronized (order.goods) {
                return goods.containsAll(order.goods);
            }
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
