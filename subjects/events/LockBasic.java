/* expect:
 *   thread main, t1
 *   acquire ReentrantLock == 2 by t1
 *   release ReentrantLock == 2 by t1
 *   write Cell.value == 2 by t1
 *   acquire ReentrantLock >= 1 by main
 * about: lock and unlock, through the class and through the interface, plain and fair
 */
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class LockBasic {
    static class Cell {
        final ReentrantLock fair = new ReentrantLock(true);
        final Lock lock = new ReentrantLock();
        int value;

        void set(int to) {
            lock.lock();
            try {
                value = to;
            } finally {
                lock.unlock();
            }
        }

        void setFair(int to) {
            fair.lock();
            try {
                value = to;
            } finally {
                fair.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        cell.set(1);
        cell.setFair(2);
        Thread t1 = new Thread(() -> {
            cell.set(3);
            cell.setFair(4);
        }, "t1");
        t1.start();
        t1.join();
        cell.set(cell.value + 1);
        System.out.println(cell.value);
    }
}
