/* fault:
 *   exit 0
 *   output exact
 * about: the helpful messages of NullPointerException are computed from the bytecode at the place of the throw,
 *   and must be the ones of the program as it was compiled
 */
public class NullPointers {
    int number;
    long wide;
    String text;
    int[] cells;
    NullPointers next;
    static NullPointers shared;
    static int[][] grid = new int[2][];

    synchronized void locked() {
    }

    NullPointers self() {
        return next;
    }

    interface Action {
        void run();
    }

    static void attempt(Action action) {
        try {
            action.run();
            System.out.println("no exception");
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
    }

    static void all() {
        NullPointers object = new NullPointers();
        NullPointers nothing = null;
        int[] none = null;
        long[] longs = null;
        double[] doubles = null;
        boolean[] flags = null;
        Object[] objects = null;
        attempt(() -> System.out.println(object.next.number));
        attempt(() -> object.next.number = 1);
        attempt(() -> object.next.wide = 1L);
        attempt(() -> object.next.wide += 2L);
        attempt(() -> object.next.text = "x");
        attempt(() -> System.out.println(object.text.length()));
        attempt(() -> System.out.println(object.cells[1]));
        attempt(() -> object.cells[1] = 2);
        attempt(() -> object.cells[object.number]++);
        attempt(() -> System.out.println(object.cells.length));
        attempt(() -> System.out.println(grid[1][0]));
        attempt(() -> grid[object.number][1] = 3);
        attempt(() -> shared.number++);
        attempt(() -> shared.locked());
        attempt(() -> object.self().self());
        attempt(() -> object.next.next.next = null);
        attempt(() -> {
            synchronized (object.next) {
                System.out.println("locked");
            }
        });
        attempt(() -> {
            throw object.next == null ? (RuntimeException) null : new IllegalStateException();
        });
        attempt(() -> System.out.println((int) (Integer) (Object) shared));
        try {
            nothing.number = 4;
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        try {
            none[0] = 4;
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        try {
            longs[2] += 4L;
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        try {
            doubles[2] = 0.5;
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        try {
            flags[2] = true;
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        try {
            objects[3] = "x";
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        all();
        Thread t1 = new Thread(NullPointers::all, "t1");
        t1.start();
        t1.join();
    }
}
