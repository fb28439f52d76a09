/* expect:
 *   thread main, t1
 *   write short[] == 2 by t1
 *   read short[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of short[]
 */
public class ArrayShorts {
    public static void main(String[] args) throws InterruptedException {
        short[] cells = new short[8];
        cells[0] = (short) -32768;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(short[] cells) {
        cells[3] = (short) -32768;
        cells[4] = (short) -32768;
    }
}
