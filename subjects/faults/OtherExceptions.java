/* fault:
 *   exit 0
 *   output exact
 * about: the messages of index, store, cast, division, size and monitor exceptions, which the JVM makes itself,
 *   at accesses that are instrumented
 */
public class OtherExceptions {
    static int[] cells = new int[3];
    static Object[] names = new String[2];
    static Object text = "text";
    static int zero;

    interface Action {
        void run() throws Exception;
    }

    static void attempt(Action action) {
        try {
            action.run();
            System.out.println("no exception");
        } catch (Exception e) {
            System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }

    static void all() {
        attempt(() -> cells[3] = 1);
        attempt(() -> cells[-1]++);
        attempt(() -> System.out.println(cells[cells.length]));
        attempt(() -> names[0] = 5);
        attempt(() -> System.out.println((Integer) text));
        attempt(() -> cells[0] = 1 / zero);
        attempt(() -> cells = new int[-1]);
        attempt(() -> cells.wait());
        attempt(() -> cells.notify());
        attempt(() -> Thread.sleep(-1));
        attempt(() -> new Thread(() -> { }).join(-1));
        attempt(() -> Class.forName("no.such.Class"));
        attempt(() -> java.util.List.of(1).add(2));
        attempt(() -> new java.util.ArrayList<Integer>().iterator().next());
    }

    public static void main(String[] args) throws InterruptedException {
        all();
        Thread t1 = new Thread(OtherExceptions::all, "t1");
        t1.start();
        t1.join();
    }
}
