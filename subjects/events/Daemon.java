/* expect:
 *   thread main, d1
 *   fork d1 == 1 by main
 *   begin == 1 by d1
 *   end == 0 by d1
 *   write Beat.count == 1 by d1
 * about: a daemon that is still asleep when main ends
 */
import java.util.concurrent.CountDownLatch;

public class Daemon {
    static class Beat {
        int count;
    }

    public static void main(String[] args) throws InterruptedException {
        Beat beat = new Beat();
        beat.count = 0;
        CountDownLatch began = new CountDownLatch(1);
        Thread d1 = new Thread(() -> {
            beat.count = 1;
            began.countDown();
            try {
                Thread.sleep(600_000);
            } catch (InterruptedException e) {
                beat.count = -1;
            }
        }, "d1");
        d1.setDaemon(true);
        d1.start();
        began.await();
        System.out.println(beat.count + " " + d1.isDaemon());
    }
}
