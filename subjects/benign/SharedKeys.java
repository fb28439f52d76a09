/* silent
 * A map that nobody changes any more, gone through by two threads at once: each asks for its keys, values and entries, which the map makes
 * when they are first asked for and keeps in a field without a lock.
 */
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

public class SharedKeys {
    private static int lengths(Map<String, Integer> prices) {
        int sum = 0;
        for (String name : prices.keySet()) {
            sum += name.length();
        }
        for (int price : prices.values()) {
            sum += price;
        }
        for (Map.Entry<String, Integer> entry : prices.entrySet()) {
            sum += entry.getValue();
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        Map<String, Integer> hashed = new HashMap<>(Map.of("tea", 3, "cake", 4));
        TreeMap<String, Integer> sorted = new TreeMap<>(hashed);
        int[] sums = new int[2];
        Thread t1 = new Thread(() -> sums[0] = lengths(hashed) + lengths(sorted) + lengths(sorted.descendingMap()), "t1");
        Thread t2 = new Thread(() -> sums[1] = lengths(hashed) + lengths(sorted) + lengths(sorted.descendingMap()), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(sums[0] + " " + sums[1]);
    }
}
