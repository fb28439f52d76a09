/* failure:
 *   rule failure
 *   outcome exception
 *   place DiesOfAssertion.java:27
 * about: a worker finds its invariant broken and dies of an AssertionError, in every run
 */
public class DiesOfAssertion {
    static class Stock {
        private int items = 3;

        synchronized void take(int wanted) {
            items -= wanted;
        }

        synchronized int items() {
            return items;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock();
        Thread worker = new Thread(() -> {
            stock.take(5);
            int left = stock.items();
            if (left < 0) {
                // The thread ends here; the program goes on and exits with 0.
                throw new AssertionError("stock is " + left);
            }
        }, "worker");
        worker.start();
        worker.join();
        System.out.println("done");
    }
}
