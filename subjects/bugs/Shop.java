/* bug:
 *   rule atomicity | atomic-set
 *   variable Stock.items
 *   evidence harmful
 *   outcome exception
 * about: Asking how many items are left and taking as many are each synchronized, buying is not: between the two
 *   another buyer takes some of them, and the shelf has fewer than were promised.
 */
public class Shop {
    static class Stock {
        private int items;

        Stock(int items) {
            this.items = items;
        }

        synchronized int items() {
            return items;
        }

        synchronized void take(int count) {
            if (items < count) {
                throw new IllegalStateException("only " + items + " left");
            }
            items -= count;
        }
    }

    static class Seller {
        private final Stock stock;

        Seller(Stock stock) {
            this.stock = stock;
        }

        int buyUpTo(int wanted) {
            int count = Math.min(wanted, stock.items());
            stock.take(count);
            return count;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock(5);
        Seller seller = new Seller(stock);
        runBoth(() -> seller.buyUpTo(3), () -> seller.buyUpTo(4));
        System.out.println("items left " + stock.items());
        if (stock.items() != 0) {
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
