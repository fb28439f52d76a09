/* expect:
 *   thread main, t1
 *   read int[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: System.arraycopy, clone and Arrays.fill write elements without an instruction of the program's own; only that
 *   the run goes on undisturbed and the program's own read is seen is asked
 */
public class ArrayCopies {
    public static void main(String[] args) throws InterruptedException {
        int[] from = {1, 2, 3, 4};
        int[] to = new int[4];
        to[0] = 9;
        Thread t1 = new Thread(() -> {
            System.arraycopy(from, 0, to, 0, from.length);
            int[] copy = from.clone();
            java.util.Arrays.fill(copy, 8);
            to[3] = copy[0];
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(to[0] + " " + to[3]);
    }
}
