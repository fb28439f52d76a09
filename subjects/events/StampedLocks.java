/* expect:
 *   thread main, t1
 *   acquire StampedLock == 2 by t1
 *   release StampedLock == 2 by t1
 *   acquire-shared StampedLock == 1 by t1
 *   release-shared StampedLock == 1 by t1
 *   write Point.x == 2 by t1
 *   read Point.x >= 2 by t1
 * about: write lock, read lock, an optimistic read that holds, tryWriteLock
 */
import java.util.concurrent.locks.StampedLock;

public class StampedLocks {
    static class Point {
        final StampedLock lock = new StampedLock();
        int x;

        void move(int by) {
            long stamp = lock.writeLock();
            try {
                x += by;
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        boolean tryMove(int by) {
            long stamp = lock.tryWriteLock();
            if (stamp == 0) {
                return false;
            }
            try {
                x += by;
                return true;
            } finally {
                lock.unlock(stamp);
            }
        }

        int get() {
            long stamp = lock.readLock();
            try {
                return x;
            } finally {
                lock.unlockRead(stamp);
            }
        }

        int peek() {
            long stamp = lock.tryOptimisticRead();
            int seen = x;
            return lock.validate(stamp) ? seen : -1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Point point = new Point();
        point.move(1);
        Thread t1 = new Thread(() -> {
            point.move(10);
            System.out.println(point.tryMove(100));
            System.out.println(point.get());
            System.out.println(point.peek());
        }, "t1");
        t1.start();
        t1.join();
    }
}
