/* bug:
 *   rule data-race | atomicity
 *   variable EarlyTick.ticks
 *   evidence harmful
 *   outcome exit | value
 * about: Counts in the timer's thread and in its own. Its own count comes first, while nobody else has touched the counter: such
 *   accesses are not recorded, and only the closer look of a further run has both.
 */
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

public class EarlyTick {
    private static int ticks;

    public static void main(String[] args) throws InterruptedException {
        Timer timer = new Timer("timer", true);
        CountDownLatch rung = new CountDownLatch(1);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                ticks++;
                rung.countDown();
            }
        }, 100);
        ticks++;
        rung.await();
        if (ticks != 2) {
            System.exit(1);
        }
    }
}
