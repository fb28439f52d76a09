/* expect:
 *   thread main, t1
 *   send CyclicBarrier >= 1 by t1
 *   end == 1 by t1
 * about: a timed barrier breaks, the second await sees it broken
 */
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

public class BrokenBarrier {
    public static void main(String[] args) throws InterruptedException {
        CyclicBarrier barrier = new CyclicBarrier(2);
        Thread t1 = new Thread(() -> {
            try {
                barrier.await(10, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                System.out.println("time is up");
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        t1.start();
        t1.join();
        try {
            barrier.await();
        } catch (BrokenBarrierException e) {
            System.out.println("broken");
        }
    }
}
