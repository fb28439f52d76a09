/* fixed: Salesman */
public class SalesmanFixed {
    static class Best {
        private int cost = Integer.MAX_VALUE;
        private String tour;

        void offer(int cost, String tour) {
            synchronized (this) {
                if (cost < this.cost) {
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
