/* expect:
 *   thread main, t1
 *   read ConcurrentHashMap.* >= 1 by t1
 *   write|update ConcurrentHashMap.* >= 1 by t1
 * about: size, iteration, putAll and clear touch the map as a whole
 */
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class MapBulk {
    public static void main(String[] args) throws InterruptedException {
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        map.put(1, 10);
        int[] sums = new int[2];
        Thread t1 = new Thread(() -> {
            map.putAll(Map.of(2, 20, 3, 30));
            for (Map.Entry<Integer, Integer> entry : map.entrySet()) {
                sums[0] += entry.getValue();
            }
            sums[1] = map.size();
            map.clear();
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(sums[0] + " " + sums[1] + " " + map.isEmpty());
    }
}
