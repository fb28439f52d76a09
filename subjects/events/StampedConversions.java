/* expect:
 *   thread main, t1
 *   acquire-shared StampedLock == 2 by t1   // readLock, and the one that the write lock is turned into
 *   release-shared StampedLock == 2 by t1
 *   acquire StampedLock == 2 by t1          // a read lock and an optimistic stamp, turned into the write lock
 *   release StampedLock == 2 by t1
 *   write Point.x == 2 by t1
 * about: a stamp is turned from read to write, from write to read, from read to optimistic and from optimistic to write; turned into
 *   what it is already it changes nothing
 */
import java.util.concurrent.locks.StampedLock;

public class StampedConversions {
    static class Point {
        final StampedLock lock = new StampedLock();
        int x;
    }

    public static void main(String[] args) throws InterruptedException {
        Point point = new Point();
        point.x = 1;
        Thread t1 = new Thread(() -> {
            StampedLock lock = point.lock;
            long stamp = lock.tryConvertToWriteLock(lock.readLock());
            stamp = lock.tryConvertToWriteLock(stamp);
            point.x += 1;
            stamp = lock.tryConvertToReadLock(stamp);
            stamp = lock.tryConvertToOptimisticRead(stamp);
            int seen = point.x;
            stamp = lock.tryConvertToWriteLock(stamp);
            point.x = seen + 1;
            lock.unlock(stamp);
            System.out.println(seen);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(point.x);
    }
}
