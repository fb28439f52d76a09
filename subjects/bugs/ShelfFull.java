/* bug:
 *   rule atomicity | unserializable
 *   variable ShelfFull.Shelf.used
 *   evidence harmful
 *   outcome exception
 * about: Whether there is room is asked under the lock and the book is put under it, but the lock is free in between. The recorded
 *   run has one book too few for that: the second thread finds the shelf full and does nothing.
 */
import java.util.concurrent.locks.ReentrantLock;

public class ShelfFull {
    static class Shelf {
        private final String[] places = new String[2];
        private int used;
        private final ReentrantLock lock = new ReentrantLock();

        boolean full() {
            lock.lock();
            try {
                return used == places.length;
            } finally {
                lock.unlock();
            }
        }

        void put(String book) {
            lock.lock();
            try {
                places[used] = book;
                used++;
            } finally {
                lock.unlock();
            }
        }

        void offer(String book) {
            if (!full()) {
                put(book);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Shelf shelf = new Shelf();
        shelf.offer("atlas");
        runBoth(() -> shelf.offer("novel"), () -> shelf.offer("poems"));
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
