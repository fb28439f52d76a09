/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Point.x | Point.y
 *   evidence harmful
 *   outcome value | exit
 * about: A point is moved and read without a lock: the reader sees the new x with the old y.
 */
public class TornPair {
    static class Point {
        private int x;
        private int y;

        void move(int to) {
            x = to;
            y = to;
        }

        int difference() {
            return x - y;
        }
    }

    static class Watcher implements Runnable {
        private final Point point;
        int seen;

        Watcher(Point point) {
            this.point = point;
        }

        @Override
        public void run() {
            seen = point.difference();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Point point = new Point();
        Watcher watcher = new Watcher(point);
        runBoth(() -> point.move(5), watcher);
        System.out.println("difference " + watcher.seen);
        if (watcher.seen != 0) {
            System.exit(1);
        }
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
