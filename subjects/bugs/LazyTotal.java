/* bug:
 *   rule data-race
 *   variable Total.value
 *   evidence confirmed
 *   outcome value
 * about: A field that starts at zero and gets a constant added looks like the caching of a hash code, until another method reads it.
 */
public class LazyTotal {
    static class Total {
        private int value;

        void add() {
            value += 3;
        }

        int value() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Total total = new Total();
        int[] seen = new int[1];
        runBoth(total::add, () -> seen[0] = total.value());
        System.out.println("total " + (seen[0] == 3 || seen[0] == 0));
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
