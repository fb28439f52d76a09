/* fixed: ShelfFull */
import java.util.concurrent.locks.ReentrantLock;

public class ShelfFullFixed {
    static class Shelf {
        private final String[] places = new String[2];
        private int used;
        private final ReentrantLock lock = new ReentrantLock();

        void offer(String book) {
            lock.lock();
            try {
                if (used < places.length) {
                    places[used] = book;
                    used++;
                }
            } finally {
                lock.unlock();
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
