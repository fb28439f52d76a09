/* fault:
 *   exit 0
 *   jvm -Xss512k
 *   output exact
 * about: recursion without end through fields, arrays, synchronized methods, try/finally and callbacks from the
 *   JDK, caught and repeated; locks must be free and counters right afterwards
 */
import java.util.TreeMap;

public class StackOverflow {
    static class Deep {
        int depth;
        int[] cells = new int[8];
        private int balance;

        int fields() {
            depth++;
            return fields() + 1;
        }

        int arrays(int i) {
            cells[i & 7]++;
            return arrays(i + 1) + cells[i & 7];
        }

        synchronized int locked() {
            depth++;
            return locked() + 1;
        }

        void finallies() {
            balance++;
            try {
                finallies();
            } finally {
                balance--;
            }
        }

        synchronized boolean free() {
            return depth > 0;
        }
    }

    static class Key implements Comparable<Key> {
        static int compared;

        @Override
        public int compareTo(Key other) {
            compared++;
            TreeMap<Key, Key> map = new TreeMap<>();
            map.put(new Key(), this);
            map.put(other, this);
            return 0;
        }
    }

    static String overflow(Runnable action) {
        try {
            action.run();
            return "returned";
        } catch (StackOverflowError e) {
            return "overflow";
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Deep deep = new Deep();
        deep.depth = 0;
        for (int round = 0; round < 3; round++) {
            Thread t1 = new Thread(() -> {
                System.out.println("fields " + overflow(deep::fields));
                System.out.println("arrays " + overflow(() -> deep.arrays(0)));
                System.out.println("locked " + overflow(deep::locked));
                System.out.println("finallies " + overflow(deep::finallies));
                System.out.println("callbacks " + overflow(() -> new Key().compareTo(new Key())));
            }, "t1");
            t1.start();
            t1.join();
            Thread t2 = new Thread(() -> System.out.println("free " + deep.free()), "t2");
            t2.start();
            t2.join();
        }
    }
}
