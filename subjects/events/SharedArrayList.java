/* expect:
 *   thread main, t1
 *   read|write ArrayList.size >= 2 by t1
 *   write Object[] >= 1 by t1
 *   read ArrayList.size >= 1 by main
 * about: an unsynchronised list used by two threads one after the other: its own fields are seen
 */
import java.util.ArrayList;
import java.util.List;

public class SharedArrayList {
    public static void main(String[] args) throws InterruptedException {
        List<String> list = new ArrayList<>();
        list.add("a");
        Thread t1 = new Thread(() -> {
            list.add("b");
            list.remove("a");
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(list.size() + list.get(0));
    }
}
