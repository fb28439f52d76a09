/* expect:
 *   thread main, t1
 *   write double[] == 2 by t1
 *   read double[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of double[]
 */
public class ArrayDoubles {
    public static void main(String[] args) throws InterruptedException {
        double[] cells = new double[8];
        cells[0] = Double.NEGATIVE_INFINITY;
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println(cells[3]);
    }

    static void fill(double[] cells) {
        cells[3] = Double.NEGATIVE_INFINITY;
        cells[4] = Double.NEGATIVE_INFINITY;
    }
}
