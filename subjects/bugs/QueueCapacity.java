/* bug:
 *   rule atomicity | atomic-set
 *   variable ArrayBlockingQueue.* | Depot.boxes
 *   evidence harmful
 *   outcome exception
 * about: Asks a bounded queue how much room is left and adds as many boxes as fit: another thread uses the room in
 *   between, and add fails.
 */
import java.util.concurrent.ArrayBlockingQueue;

public class QueueCapacity {
    static class Depot {
        private final ArrayBlockingQueue<String> boxes = new ArrayBlockingQueue<>(3);

        int store(String box, int count) {
            int fits = Math.min(count, boxes.remainingCapacity());
            for (int i = 0; i < fits; i++) {
                boxes.add(box);
            }
            return fits;
        }

        int size() {
            return boxes.size();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Depot depot = new Depot();
        runBoth(() -> depot.store("red", 2), () -> depot.store("blue", 2));
        System.out.println("boxes " + depot.size());
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
