/* fixed: BuilderShared */
public class BuilderSharedFixed {
    static class Log {
        private final StringBuilder lines = new StringBuilder();

        synchronized void add(String line) {
            lines.append(line);
        }

        synchronized int length() {
            return lines.length();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Log log = new Log();
        runBoth(() -> log.add("one"), () -> log.add("three"));
        System.out.println("length " + log.length());
        if (log.length() != 8) {
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
