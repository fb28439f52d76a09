/* expect:
 *   thread main, t1, t2
 *   acquire ReentrantReadWriteLock|WriteLock == 1 by t2
 *   release ReentrantReadWriteLock|WriteLock == 1 by t2
 *   acquire-shared ReentrantReadWriteLock|ReadLock == 2 by t2
 *   release-shared ReentrantReadWriteLock|ReadLock == 2 by t2
 *   write Table.value == 1 by t2
 *   read Table.value == 2 by t2
 *   fork t1 == 1 by main
 *   fork t2 == 1 by main
 * about: reads under the read lock, one write under the write lock, one read of the read lock by tryLock
 */
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadWriteLocks {
    static class Table {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private int value;

        void set(int to) {
            lock.writeLock().lock();
            try {
                value = to;
            } finally {
                lock.writeLock().unlock();
            }
        }

        int get() {
            lock.readLock().lock();
            try {
                return value;
            } finally {
                lock.readLock().unlock();
            }
        }

        int tryGet() {
            if (!lock.readLock().tryLock()) {
                return -1;
            }
            try {
                return value;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Table table = new Table();
        table.set(1);
        Runnable work = () -> {
            int seen = table.get();
            table.set(seen + 1);
            System.out.println(table.tryGet());
        };
        for (int i = 1; i <= 2; i++) {
            Thread thread = new Thread(work, "t" + i);
            thread.start();
            thread.join();
        }
    }
}
