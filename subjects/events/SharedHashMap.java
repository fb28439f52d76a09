/* expect:
 *   thread main, t1
 *   read|write HashMap.table|HashMap.size|HashMap.modCount >= 3 by t1
 *   read HashMap.table >= 1 by main
 * about: an unsynchronised map used by two threads one after the other, with growth
 */
import java.util.HashMap;
import java.util.Map;

public class SharedHashMap {
    public static void main(String[] args) throws InterruptedException {
        Map<Integer, String> map = new HashMap<>();
        map.put(0, "zero");
        Thread t1 = new Thread(() -> {
            for (int i = 1; i < 20; i++) {
                map.put(i, "n" + i);
            }
            map.remove(0);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(map.size() + map.get(19));
    }
}
