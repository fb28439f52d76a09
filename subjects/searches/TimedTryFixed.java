/* fixed: TimedTry
 * A thread tries again until it has the lock.
 */
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class TimedTryFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private int total;

    void add(int amount) throws InterruptedException {
        while (!lock.tryLock(50, TimeUnit.MILLISECONDS)) {
            Thread.onSpinWait();
        }
        try {
            int seen = total;
            total = seen + amount;
        } finally {
            lock.unlock();
        }
    }

    int total() {
        lock.lock();
        try {
            return total;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TimedTryFixed till = new TimedTryFixed();
        Thread one = new Thread(() -> run(till, 1), "one");
        Thread two = new Thread(() -> run(till, 10), "two");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("total " + till.total());
        if (till.total() != 11) {
            System.exit(1);
        }
    }

    static void run(TimedTryFixed till, int amount) {
        try {
            till.add(amount);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
