/* bug:
 *   rule data-race | atomicity
 *   variable Tally.sums | int[]
 *   evidence harmful
 *   outcome exit | value
 * about: Two threads add to the same element of an array without a lock.
 */
public class ArrayTally {
    static class Tally {
        private final int[] sums = new int[2];

        void add(int amount) {
            sums[1] += amount;
        }

        int sum() {
            return sums[1];
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        runBoth(() -> tally.add(1), () -> tally.add(10));
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
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
