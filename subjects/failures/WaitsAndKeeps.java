/* failure:
 *   rule failure
 *   outcome hang
 *   place WaitsAndKeeps.java:19
 * about: a thread waits on an inner lock and keeps the outer one, which the notifier needs
 */
public class WaitsAndKeeps {
    final Object outer = new Object();
    final Object inner = new Object();
    boolean full;

    void take(java.util.concurrent.CountDownLatch inside) throws InterruptedException {
        synchronized (outer) {
            synchronized (inner) {
                inside.countDown();
                while (!full) {
                    // Gives up inner alone.
                    // The notifier never gets past outer.
                    inner.wait();
                }
                full = false;
            }
        }
    }

    void put() {
        synchronized (outer) {
            synchronized (inner) {
                full = true;
                inner.notifyAll();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsAndKeeps shelf = new WaitsAndKeeps();
        java.util.concurrent.CountDownLatch inside = new java.util.concurrent.CountDownLatch(1);
        Thread taker = new Thread(() -> {
            try {
                shelf.take(inside);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "taker");
        taker.start();
        inside.await();
        shelf.put();
        taker.join();
        System.out.println("never reached");
    }
}
