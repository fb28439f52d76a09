/* expect:
 *   thread main, t1
 *   write|update CopyOnWriteArrayList.*|CopyOnWriteArraySet.* == 3 by t1
 *   read CopyOnWriteArrayList.* >= 2 by t1
 * about: add and set write, get and iteration read; an iterator does not see what comes after it; the set
 */
import java.util.Iterator;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;

public class CopyOnWrite {
    public static void main(String[] args) throws InterruptedException {
        CopyOnWriteArrayList<String> list = new CopyOnWriteArrayList<>();
        CopyOnWriteArraySet<String> set = new CopyOnWriteArraySet<>();
        list.add("a");
        set.add("a");
        Thread t1 = new Thread(() -> {
            Iterator<String> before = list.iterator();
            list.add("b");
            list.set(0, "c");
            set.add("b");
            System.out.println(before.next() + before.hasNext() + list.get(0) + list.size());
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(list + " " + set);
    }
}
