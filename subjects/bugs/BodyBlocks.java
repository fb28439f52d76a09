/* bug:
 *   rule atomicity | atomic-set
 *   variable Stock.items
 *   evidence harmful
 *   outcome exit | value
 * about: The body of a thread reads a stock in one synchronized block and writes it in the next.
 */
public class BodyBlocks {
    static class Stock {
        int items = 10;
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock();
        Runnable seller = () -> {
            int left;
            synchronized (stock) {
                left = stock.items;
            }
            synchronized (stock) {
                stock.items = left - 1;
            }
        };
        runBoth(seller, seller);
        synchronized (stock) {
            System.out.println("left " + stock.items);
            if (stock.items != 8) {
                System.exit(1);
            }
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
