/* expect:
 *   thread main, t1
 *   fork t1 == 1 by main
 *   join t1 == 2 by main   // the second join, and isAlive that says no
 *   end == 1 by t1
 * about: the first timed join ends too early and sees nothing, the second sees the end
 */
import java.util.concurrent.CountDownLatch;

public class TimedJoin {
    public static void main(String[] args) throws InterruptedException {
        CountDownLatch go = new CountDownLatch(1);
        Thread t1 = new Thread(() -> {
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        t1.start();
        t1.join(20);
        System.out.println(t1.isAlive());
        go.countDown();
        t1.join(10_000);
        System.out.println(t1.isAlive());
    }
}
