/* fixed: TimedUnlock
 * Only a thread that has got the lock counts, and gives it up.
 */
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class TimedUnlockFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private int shown;

    void show() throws InterruptedException {
        if (lock.tryLock(100, TimeUnit.MILLISECONDS)) {
            try {
                shown++;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TimedUnlockFixed board = new TimedUnlockFixed();
        Thread one = new Thread(() -> run(board), "one");
        Thread two = new Thread(() -> run(board), "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }

    static void run(TimedUnlockFixed board) {
        try {
            board.show();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
