/* silent
 * Workers fill and count under a lock; who waits until all have counted reads without it. Only the count's value keeps the two
 * apart: locks and order alone do not, so it may be predicted, but no run can show it.
 */
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class CountedHandOver {
    private static final int WORKERS = 3;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition counted = lock.newCondition();
    private final int[] filled = new int[WORKERS];
    private int count;

    void work(int number) {
        lock.lock();
        try {
            filled[number] = number + 1;
            count++;
            counted.signal();
        } finally {
            lock.unlock();
        }
    }

    int result() throws InterruptedException {
        lock.lock();
        try {
            while (count < WORKERS) counted.await();
        } finally {
            lock.unlock();
        }
        int sum = 0;
        for (int part : filled) sum += part;
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        CountedHandOver hand = new CountedHandOver();
        for (int i = 0; i < WORKERS; i++) {
            int number = i;
            new Thread(() -> hand.work(number), "t" + i).start();
        }
        System.out.println(hand.result());
    }
}
