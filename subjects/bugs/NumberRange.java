/* bug:
 *   rule atomicity | atomic-set | unserializable
 *   variable Range.lower | Range.upper
 *   evidence harmful
 *   outcome exit | value
 * about: The two ends of a range are moved by methods that check against the other end under one lock and store under
 *   another hold of it: both checks pass, and the range ends up upside down.
 */
public class NumberRange {
    static class Range {
        private int lower;
        private int upper = 10;

        boolean raiseLower(int by) {
            int wanted;
            synchronized (this) {
                wanted = Math.min(lower + by, upper);
            }
            synchronized (this) {
                lower = wanted;
            }
            return wanted > 0;
        }

        boolean dropUpper(int by) {
            int wanted;
            synchronized (this) {
                wanted = Math.max(upper - by, lower);
            }
            synchronized (this) {
                upper = wanted;
            }
            return wanted < 10;
        }

        synchronized boolean inOrder() {
            return lower <= upper;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Range range = new Range();
        runBoth(() -> range.raiseLower(7), () -> range.dropUpper(8));
        System.out.println(range.inOrder() ? "in order" : "upside down");
        if (!range.inOrder()) {
            System.exit(1);
        }
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
