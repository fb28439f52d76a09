/* expect:
 *   thread main, t1
 *   write Object[] == 2 by t1
 *   read Object[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of String[]
 */
public class ArrayReferences {
    public static void main(String[] args) throws InterruptedException {
        String[] cells = new String[8];
        cells[0] = "three";
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(String[] cells) {
        cells[3] = "three";
        cells[4] = "three";
    }
}
