/* expect:
 *   thread main, t1
 *   write boolean[] == 2 by t1
 *   read boolean[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of boolean[]
 */
public class ArrayBooleans {
    public static void main(String[] args) throws InterruptedException {
        boolean[] cells = new boolean[8];
        cells[0] = true;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3] ? 1 : 0);
    }

    static void fill(boolean[] cells) {
        cells[3] = true;
        cells[4] = true;
    }
}
