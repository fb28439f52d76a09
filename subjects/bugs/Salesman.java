/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Best.cost | Best.tour
 *   evidence harmful
 *   outcome exit | value
 * about: A thread compares its tour with the best so far without the lock, and stores it under the lock without
 *   looking again: a longer tour replaces a shorter one.
 */
public class Salesman {
    static class Best {
        private int cost = Integer.MAX_VALUE;
        private String tour;

        void offer(int cost, String tour) {
            if (cost < this.cost) {
                synchronized (this) {
                    this.cost = cost;
                    this.tour = tour;
                }
            }
        }

        synchronized int cost() {
            return cost;
        }

        synchronized String tour() {
            return tour;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Best best = new Best();
        runBoth(() -> best.offer(40, "A C B"), () -> best.offer(30, "A B C"));
        System.out.println("shortest " + best.cost() + ": " + best.tour());
        if (best.cost() != 30) {
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
