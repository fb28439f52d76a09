/* expect:
 *   thread main, t1
 *   write long[] == 2 by t1
 *   read long[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of long[]
 */
public class ArrayLongs {
    public static void main(String[] args) throws InterruptedException {
        long[] cells = new long[8];
        cells[0] = Long.MIN_VALUE;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(long[] cells) {
        cells[3] = Long.MIN_VALUE;
        cells[4] = Long.MIN_VALUE;
    }
}
