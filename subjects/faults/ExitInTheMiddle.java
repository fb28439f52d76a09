/* fault:
 *   exit 7
 *   output exact
 * about: System.exit while other threads are running, waiting and holding locks; a shutdown hook still prints
 */
import java.util.concurrent.CountDownLatch;

public class ExitInTheMiddle {
    static int count;

    public static void main(String[] args) throws InterruptedException {
        Object lock = new Object();
        CountDownLatch running = new CountDownLatch(3);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook"), "hook"));
        new Thread(() -> {
            running.countDown();
            while (true) {
                count++;
            }
        }, "spins").start();
        new Thread(() -> {
            synchronized (lock) {
                running.countDown();
                try {
                    Thread.sleep(600_000);
                } catch (InterruptedException e) {
                    count = -1;
                }
            }
        }, "holds").start();
        new Thread(() -> {
            running.countDown();
            synchronized (lock) {
                count = -2;
            }
        }, "blocked").start();
        running.await();
        Thread.sleep(20);
        System.out.println("leaving");
        System.exit(7);
    }
}
