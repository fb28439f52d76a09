/* fixed: DiesOfAssertion */
public class DiesOfAssertionFixed {
    static class Stock {
        private int items = 3;

        synchronized boolean take(int wanted) {
            if (items < wanted) {
                return false;
            }
            items -= wanted;
            return true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock();
        Thread worker = new Thread(() -> System.out.println("taken: " + stock.take(5)), "worker");
        worker.start();
        worker.join();
    }
}
