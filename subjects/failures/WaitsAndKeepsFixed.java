/* fixed: WaitsAndKeeps */
public class WaitsAndKeepsFixed {
    final Object inner = new Object();
    boolean full;

    void take(java.util.concurrent.CountDownLatch inside) throws InterruptedException {
        synchronized (inner) {
            inside.countDown();
            while (!full) {
                inner.wait();
            }
            full = false;
        }
    }

    void put() {
        synchronized (inner) {
            full = true;
            inner.notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsAndKeepsFixed shelf = new WaitsAndKeepsFixed();
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
        System.out.println("done");
    }
}
