/* silent
 * Synchronized methods that call each other on the same object: the inner ones neither release nor split anything.
 */
public class Reentrant {
    static class Basket {
        private int items;
        private int price;

        synchronized void add(int cost) {
            setItems(items() + 1);
            setPrice(price() + cost);
        }

        synchronized int items() {
            return items;
        }

        synchronized int price() {
            return price;
        }

        synchronized void setItems(int to) {
            items = to;
        }

        synchronized void setPrice(int to) {
            price = to;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Basket basket = new Basket();
        Thread t1 = new Thread(() -> basket.add(3), "t1");
        Thread t2 = new Thread(() -> basket.add(4), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(basket.items() + " for " + basket.price());
    }
}
