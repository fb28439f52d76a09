/* fault:
 *   exit 9
 *   output exact
 * about: Runtime.halt: no hooks, no clean-up
 */
public class Halt {
    static int[] cells = new int[4];

    public static void main(String[] args) throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("never")));
        Thread t1 = new Thread(() -> {
            for (int i = 0; i < 1000; i++) {
                cells[i & 3]++;
            }
        }, "t1");
        cells[0] = 1;
        t1.start();
        t1.join();
        System.out.println("halting at " + (cells[0] + cells[1] + cells[2] + cells[3]));
        System.out.flush();
        Runtime.getRuntime().halt(9);
    }
}
