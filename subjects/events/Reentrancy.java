/* expect:
 *   thread main, t1
 *   acquire Node == 1 by t1
 *   release Node == 1 by t1
 *   acquire ReentrantLock == 1 by t1
 *   release ReentrantLock == 1 by t1
 *   write Node.depth >= 1 by t1
 * about: a monitor taken ten deep by recursion and a lock taken three deep count once
 */
import java.util.concurrent.locks.ReentrantLock;

public class Reentrancy {
    static class Node {
        int depth;

        synchronized int down(int left) {
            depth = left;
            if (left == 0) {
                return 0;
            }
            synchronized (this) {
                return 1 + down(left - 1);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Node node = new Node();
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        lock.unlock();
        node.down(1);
        Thread t1 = new Thread(() -> {
            System.out.println(node.down(10));
            lock.lock();
            lock.lock();
            if (lock.tryLock()) {
                System.out.println(lock.getHoldCount());
                lock.unlock();
            }
            lock.unlock();
            lock.unlock();
        }, "t1");
        t1.start();
        t1.join();
    }
}
