/* expect:
 *   thread main, t1
 *   acquire Vector == 2 by t1
 *   release Vector == 2 by t1
 *   write Vector.elementCount >= 1 by t1
 *   acquire Hashtable == 1 by t1
 *   acquire StringBuffer <= 1 by t1
 * about: Vector and Hashtable lock themselves in every method
 */
import java.util.Hashtable;
import java.util.Vector;

public class OldCollections {
    public static void main(String[] args) throws InterruptedException {
        Vector<Integer> vector = new Vector<>();
        Hashtable<Integer, Integer> table = new Hashtable<>();
        StringBuffer text = new StringBuffer();
        vector.add(1);
        table.put(1, 1);
        text.append("a");
        Thread t1 = new Thread(() -> {
            vector.add(2);
            vector.get(0);
            table.put(2, 2);
            text.append("b");
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(vector.size() + " " + table.size() + " " + text);
    }
}
