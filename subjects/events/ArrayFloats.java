/* expect:
 *   thread main, t1
 *   write float[] == 2 by t1
 *   read float[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of float[]
 */
public class ArrayFloats {
    public static void main(String[] args) throws InterruptedException {
        float[] cells = new float[8];
        cells[0] = Float.NaN;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(float[] cells) {
        cells[3] = Float.NaN;
        cells[4] = Float.NaN;
    }
}
