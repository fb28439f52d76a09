/* bug:
 *   rule atomicity | atomic-set
 *   variable Stock.items
 *   evidence harmful
 *   outcome exit | value
 * about: Each turn of a loop in the body of a thread reads a stock and writes it back less one, through synchronized methods. One turn is
 *   expected to be atomic, the whole loop is not.
 */
public class LoopStock {
    static class Stock {
        private int items = 10;

        synchronized int items() {
            return items;
        }

        synchronized void set(int items) {
            this.items = items;
        }

        synchronized void remove(int count) {
            items -= count;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock();
        Runnable seller = () -> {
            for (int i = 0; i < 3; i++) {
                int left = stock.items();
                stock.set(left - 1);
            }
        };
        runBoth(seller, seller);
        System.out.println("left " + stock.items());
        if (stock.items() != 4) {
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
