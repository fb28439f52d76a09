/* bug:
 *   rule data-race | atomicity
 *   variable LatchedCount.done
 *   evidence harmful
 *   outcome exit | value
 * about: A worker waits in its middle until the other one has opened a latch; then both count what they did, without a lock.
 */
import java.util.concurrent.CountDownLatch;

public class LatchedCount {
    static final Object log = new Object();
    static int lines;
    static int done;

    static void log() {
        synchronized (log) {
            lines = lines + 1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        Thread follower = new Thread(() -> {
            log();
            try {
                ready.await();
            } catch (InterruptedException e) {
                return;
            }
            log();
            done++;
        }, "follower");
        Thread leader = new Thread(() -> {
            ready.countDown();
            done++;
        }, "leader");
        follower.start();
        leader.start();
        follower.join();
        leader.join();
        System.out.println(done + " done");
        if (done != 2) System.exit(1);
    }
}
