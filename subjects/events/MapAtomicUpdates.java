/* expect:
 *   thread main, t1
 *   write|update ConcurrentHashMap.entry >= 4 by t1
 *   read|write|update ConcurrentHashMap.entry >= 5 by t1
 *   write Tally.calls >= 1 by t1
 * about: merge, compute, computeIfAbsent and computeIfPresent run the program's code inside the map; keys with the same
 *   hash, null results that remove
 */
import java.util.concurrent.ConcurrentHashMap;

public class MapAtomicUpdates {
    static class Tally {
        int calls;
    }

    public static void main(String[] args) throws InterruptedException {
        ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>();
        Tally tally = new Tally();
        map.put("Aa", 1);
        Thread t1 = new Thread(() -> {
            map.merge("Aa", 5, Integer::sum);
            map.compute("BB", (key, old) -> {
                tally.calls++;
                return old == null ? 1 : old + 1;
            });
            map.computeIfAbsent("C", String::length);
            map.computeIfAbsent("C", key -> 99);
            map.computeIfPresent("BB", (key, old) -> null);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(map.get("Aa") + " " + map.get("BB") + " " + map.get("C") + " " + map.size() + " "
                + tally.calls);
    }
}
