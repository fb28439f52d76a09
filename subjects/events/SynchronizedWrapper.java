/* expect:
 *   thread main, t1
 *   acquire SynchronizedList|SynchronizedRandomAccessList|SynchronizedCollection == 3 by t1
 *   release SynchronizedList|SynchronizedRandomAccessList|SynchronizedCollection == 3 by t1
 *   write ArrayList.size >= 1 by t1
 *   acquire SynchronizedMap == 1 by t1
 * about: Collections.synchronizedList and synchronizedMap lock themselves; iteration locks the list by hand
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class SynchronizedWrapper {
    public static void main(String[] args) throws InterruptedException {
        List<Integer> list = Collections.synchronizedList(new ArrayList<>());
        Map<Integer, Integer> map = Collections.synchronizedMap(new HashMap<>());
        list.add(1);
        map.put(1, 1);
        int[] sum = new int[1];
        Thread t1 = new Thread(() -> {
            list.add(2);
            sum[0] += list.get(0);
            synchronized (list) {
                for (int each : list) {
                    sum[0] += each;
                }
            }
            map.put(2, 2);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(list.size() + " " + sum[0] + " " + map.size());
    }
}
