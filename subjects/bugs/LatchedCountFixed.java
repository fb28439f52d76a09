/* fixed: LatchedCount
 * Both count under the lock.
 */
import java.util.concurrent.CountDownLatch;

public class LatchedCountFixed {
    static final Object log = new Object();
    static int lines;
    static int done;

    static void count() {
        synchronized (log) {
            done++;
        }
    }

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
            count();
        }, "follower");
        Thread leader = new Thread(() -> {
            ready.countDown();
            count();
        }, "leader");
        follower.start();
        leader.start();
        follower.join();
        leader.join();
        System.out.println(done + " done");
        if (done != 2) System.exit(1);
    }
}
