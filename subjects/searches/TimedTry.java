/* failure:
 *   rule: failure
 *   outcome: exit
 *   place: TimedTry.java:46
 * about: a thread that has not got the lock in time goes on without it.
 */
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class TimedTry {
    private final ReentrantLock lock = new ReentrantLock();
    private int total;

    void add(int amount) throws InterruptedException {
        boolean locked = lock.tryLock(50, TimeUnit.MILLISECONDS);
        try {
            int seen = total;
            total = seen + amount;
        } finally {
            if (locked) {
                lock.unlock();
            }
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
        TimedTry till = new TimedTry();
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

    static void run(TimedTry till, int amount) {
        try {
            till.add(amount);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
