/* expect:
 *   thread main, seller, other
 *   read Stock.left >= 8 by seller
 *   read Stock.left <= 64 by seller
 *   write Stock.left == 1 by seller
 *   write Stock.left == 1 by other
 * about: a unit that takes a way it has never taken before, late: its write is recorded, the read that it began with is a
 *   repeat and is not, unless all repeats are kept. A test of its own looks at both.
 */
public class LatePath {
    static final class Stock {
        private int left = 10;

        void sell(boolean really) {
            int seen = left;
            if (really) {
                left = seen - 1;
            }
        }

        void fill() {
            left = 20;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock();
        stock.fill();
        Thread seller = new Thread(() -> {
            for (int i = 0; i < 5000; i++) {
                stock.sell(i == 4999);
            }
        }, "seller");
        seller.start();
        seller.join();
        Thread other = new Thread(stock::fill, "other");
        other.start();
        other.join();
        System.out.println("done");
    }
}
