/* silent
 * Only the thread of a session takes the lock of that session. While it holds the lock, it reads a shared version and later raises it. The lock does not make the two
 * one step for other sessions, and need not: the version only grows.
 */
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

public class OwnLocks {
    static class Database {
        private final AtomicLong version = new AtomicLong();

        long version() {
            return version.get();
        }

        long nextVersion() {
            return version.incrementAndGet();
        }
    }

    static Runnable session(Database database) {
        ReentrantLock lock = new ReentrantLock();
        return () -> {
            lock.lock();
            try {
                long seen = database.version();
                long own = database.nextVersion();
                if (own <= seen) {
                    throw new IllegalStateException("the version went back");
                }
            } finally {
                lock.unlock();
            }
        };
    }

    public static void main(String[] args) throws InterruptedException {
        Database database = new Database();
        Thread first = new Thread(session(database), "first");
        Thread second = new Thread(session(database), "second");
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("version " + database.version());
    }
}
