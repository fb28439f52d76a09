/* expect:
 *   thread main, t1
 *   acquire ReentrantReadWriteLock|WriteLock == 1 by t1
 *   release ReentrantReadWriteLock|WriteLock == 1 by t1
 *   release-shared ReentrantReadWriteLock|ReadLock <= 1 by t1
 *   write Table.value == 1 by t1
 *   read Table.value >= 1 by t1
 * about: the write lock is turned into the read lock by taking the second before giving the first up
 */
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadWriteDowngrade {
    static class Table {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        int value;

        int setAndUse(int to) {
            lock.writeLock().lock();
            try {
                value = to;
                lock.readLock().lock();
            } finally {
                lock.writeLock().unlock();
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
        table.setAndUse(1);
        Thread t1 = new Thread(() -> System.out.println(table.setAndUse(2)), "t1");
        t1.start();
        t1.join();
        System.out.println(table.lock.getReadLockCount() + " " + table.lock.isWriteLocked());
    }
}
