/* expect:
 *   thread main, t1
 *   read ConcurrentHashMap.entry == 3 by t1
 *   write|update ConcurrentHashMap.entry == 4 by t1
 *   read ConcurrentHashMap.entry >= 1 by main
 * about: get, containsKey and a putIfAbsent that finds an entry read; put, putIfAbsent, remove and replace write
 */
import java.util.concurrent.ConcurrentHashMap;

public class MapConcurrentHashMap {
    public static void main(String[] args) throws InterruptedException {
        ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>();
        map.put("a", 1);
        map.put("b", 2);
        Thread t1 = new Thread(() -> use(map), "t1");
        t1.start();
        t1.join();
        System.out.println(map.get("a") + " " + map.get("b") + " " + map.get("c") + " " + map.get("d"));
    }

    static void use(ConcurrentHashMap<String, Integer> map) {
        Integer seen = map.get("a");
        boolean has = map.containsKey("b");
        map.put("c", seen + (has ? 10 : 20));
        map.putIfAbsent("d", 4);
        map.putIfAbsent("a", 5);
        map.remove("b");
        map.replace("a", 7);
    }
}
