import java.util.HashMap;
import java.util.Map;

/** Two maps without a lock that no method has both of: two bugs. */
public class TwoMaps {
    private final Map<String, Integer> prices = new HashMap<>();
    private final Map<String, Integer> stock = new HashMap<>();

    void price(String name, int price) {
        prices.put(name, price);
    }

    void store(String name, int count) {
        stock.put(name, count);
    }

    public static void main(String[] args) throws InterruptedException {
        TwoMaps shop = new TwoMaps();
        Thread[] threads = {
            new Thread(() -> shop.price("tea", 3), "t1"),
            new Thread(() -> shop.price("salt", 2), "t2"),
            new Thread(() -> shop.store("tea", 10), "t3"),
            new Thread(() -> shop.store("salt", 20), "t4"),
        };
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(shop.prices.size() + " " + shop.stock.size());
    }
}
