/* bug:
 *   rule lock-order
 *   variable Store.orders | ReentrantLock
 *   evidence harmful
 *   outcome deadlock
 * about: Two explicit locks taken in opposite orders, one of them inside a method that does not show it.
 */
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class DeadlockLocks {
    static class Store {
        private final Lock items = new ReentrantLock();
        private final Lock orders = new ReentrantLock();
        private int stock = 10;
        private int open;

        void order(int count) {
            orders.lock();
            try {
                open += count;
                reserve(count);
            } finally {
                orders.unlock();
            }
        }

        private void reserve(int count) {
            items.lock();
            try {
                stock -= count;
            } finally {
                items.unlock();
            }
        }

        void deliver(int count) {
            items.lock();
            try {
                stock += count;
                orders.lock();
                try {
                    open = Math.max(0, open - count);
                } finally {
                    orders.unlock();
                }
            } finally {
                items.unlock();
            }
        }

        String state() {
            orders.lock();
            try {
                items.lock();
                try {
                    return "stock " + stock + ", open " + open;
                } finally {
                    items.unlock();
                }
            } finally {
                orders.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Store store = new Store();
        runBoth(() -> store.order(3), () -> store.deliver(2));
        System.out.println(store.state());
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
