/* silent
 * A thread that joins itself with a limit sleeps. A count under a lock is right however long two threads sleep between.
 */
public class SelfJoin {
    static class Count {
        private int value;

        synchronized void add(int more) {
            value += more;
        }

        synchronized int value() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Count count = new Count();
        Thread one = new Thread(() -> twice(count), "one");
        Thread two = new Thread(() -> twice(count), "two");
        one.start();
        two.start();
        one.join();
        two.join();
        if (count.value() != 4) {
            System.exit(1);
        }
    }

    static void twice(Count count) {
        try {
            count.add(1);
            Thread.currentThread().join(1);
            count.add(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
