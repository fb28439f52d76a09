/* fixed: StuckOnce
 * about: both threads take the locks in one order
 */
import java.io.File;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

public class StuckOnceFixed {
    static final Object RED = new Object();
    static final Object BLUE = new Object();
    static final java.util.concurrent.atomic.AtomicInteger USES = new java.util.concurrent.atomic.AtomicInteger();

    static void both(Object first, Object second, CountDownLatch met) throws InterruptedException {
        synchronized (first) {
            USES.incrementAndGet();
            met.countDown();
            met.await();
            synchronized (second) {
                USES.incrementAndGet();
            }
        }
    }

    static Thread start(String name, Object first, Object second, CountDownLatch met) {
        Thread thread = new Thread(() -> {
            try {
                both(first, second, met);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        boolean first = new File("stuck-once.marker").createNewFile();
        CountDownLatch met = new CountDownLatch(1);
        Thread t1 = start("t1", RED, BLUE, met);
        if (!first) {
            t1.join();
        }
        Thread t2 = start("t2", RED, BLUE, met);
        t1.join();
        t2.join();
        System.out.println("done");
    }
}
