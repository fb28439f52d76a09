/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: TimedUnlock.java:19
 * about: a thread gives a lock up that it may not have got in time.
 */
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class TimedUnlock {
    private final ReentrantLock lock = new ReentrantLock();
    private int shown;

    void show() throws InterruptedException {
        try {
            lock.tryLock(100, TimeUnit.MILLISECONDS);
            shown++;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TimedUnlock board = new TimedUnlock();
        Thread one = new Thread(() -> run(board), "one");
        Thread two = new Thread(() -> run(board), "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }

    static void run(TimedUnlock board) {
        try {
            board.show();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
