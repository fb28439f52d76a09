import java.util.HashMap;
import java.util.Map;

/** A HashMap behind synchronized methods: reserve checks through one of them and acts through another. */
public class Inventory {
    private final Map<String, Integer> stock = new HashMap<>();

    synchronized int available(String item) {
        return stock.getOrDefault(item, 0);
    }

    synchronized void set(String item, int count) {
        stock.put(item, count);
    }

    boolean reserve(String item, int wanted) {
        int have = available(item);
        if (have < wanted) {
            return false;
        }
        set(item, have - wanted);
        return true;
    }

    public static void main(String[] args) throws InterruptedException {
        Inventory inventory = new Inventory();
        inventory.set("apple", 10);
        inventory.set("pear", 4);
        Thread first = new Thread(() -> inventory.reserve("apple", 3), "first");
        Thread second = new Thread(() -> inventory.reserve("apple", 4), "second");
        first.start();
        Thread.sleep(100);
        second.start();
        first.join();
        second.join();
        int left = inventory.available("apple");
        System.out.println("apples left: " + left);
        if (left != 3) {
            throw new IllegalStateException("3 apples must be left, not " + left);
        }
    }
}
