/* finding: unreleased-lock
 * about: `print` returns with the lock held when the printer is closed.
 */
import java.util.concurrent.locks.ReentrantLock;

public class Printer {
    private final ReentrantLock lock = new ReentrantLock();
    private boolean closed;
    private int pages;

    public void print(int count) {
        lock.lock();
        if (closed) {
            return;
        }
        pages += count;
        lock.unlock();
    }

    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
    }
}
