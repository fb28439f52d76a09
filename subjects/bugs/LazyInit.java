/* bug:
 *   rule data-race | atomicity
 *   variable Log.instance
 *   evidence harmful
 *   outcome exit | value
 * about: Lazy initialisation without a lock: two threads make a log each, and what went into the first is gone.
 */
public class LazyInit {
    static class Log {
        private static Log instance;
        private int lines;

        static void append(String line) {
            Log log = instance;
            if (log == null) {
                log = new Log();
                instance = log;
            }
            log.add();
        }

        static int count() {
            return instance.lines();
        }

        private synchronized void add() {
            lines++;
        }

        private synchronized int lines() {
            return lines;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        runBoth(() -> Log.append("one"), () -> Log.append("two"));
        System.out.println(Log.count() + " lines");
        if (Log.count() != 2) {
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
