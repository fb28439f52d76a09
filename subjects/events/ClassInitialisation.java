/* expect:
 *   thread main, t1
 *   initialized Table >= 1 by t1
 *   read Table.built >= 1 by main
 *   read int[] >= 1 by main
 *   initialized Lazy.Holder >= 1
 * about: t1 initialises Table, main sees its content; a holder class is initialised by the first use
 */
public class ClassInitialisation {
    static class Table {
        static int built;
        static final int[] SQUARES = new int[10];

        static {
            for (int i = 0; i < SQUARES.length; i++) {
                SQUARES[i] = i * i;
            }
            built = SQUARES.length;
        }
    }

    static class Lazy {
        static class Holder {
            static final Lazy INSTANCE = new Lazy();
        }

        int number = 3;

        static Lazy get() {
            return Holder.INSTANCE;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(() -> System.out.println(Table.built + Lazy.get().number), "t1");
        t1.start();
        t1.join();
        System.out.println(Table.SQUARES[9] + " " + Table.built + " " + Lazy.get().number);
    }
}
