/* silent
 * The main thread reads standard input, another one waits for it; run with input that ends after some seconds.
 */
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

public class WaitsForInput {
    static int turns;

    static synchronized void count() {
        turns++;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        CountDownLatch read = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            try {
                read.await();
                count();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "waiter");
        waiter.start();
        count();
        while (System.in.read() >= 0) {
            count();
        }
        read.countDown();
        waiter.join();
        System.out.println("done");
    }
}
