/* fault:
 *   exit killed
 *   output exact
 * about: ignores interrupts and never ends; only a kill ends it
 */
public class NeverEnds {
    static int turns;

    public static void main(String[] args) {
        System.out.println("begun");
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                while (true) {
                    try {
                        synchronized (NeverEnds.class) {
                            turns++;
                        }
                        Thread.sleep(10);
                    } catch (InterruptedException e) {
                        // Goes on.
                    }
                }
            }, "loop-" + i).start();
        }
    }
}
