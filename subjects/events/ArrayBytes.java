/* expect:
 *   thread main, t1
 *   write byte[] == 2 by t1
 *   read byte[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of byte[]
 */
public class ArrayBytes {
    public static void main(String[] args) throws InterruptedException {
        byte[] cells = new byte[8];
        cells[0] = (byte) -128;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(byte[] cells) {
        cells[3] = (byte) -128;
        cells[4] = (byte) -128;
    }
}
