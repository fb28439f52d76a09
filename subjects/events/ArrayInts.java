/* expect:
 *   thread main, t1
 *   write int[] == 2 by t1
 *   read int[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of int[]
 */
public class ArrayInts {
    public static void main(String[] args) throws InterruptedException {
        int[] cells = new int[8];
        cells[0] = Integer.MIN_VALUE;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(int[] cells) {
        cells[3] = Integer.MIN_VALUE;
        cells[4] = Integer.MIN_VALUE;
    }
}
