/* fixed: JoinerShared */
import java.util.StringJoiner;

public class JoinerSharedFixed {
    static class Line {
        private final StringJoiner parts = new StringJoiner(",");

        synchronized void add(String part) {
            parts.add(part);
        }

        synchronized int length() {
            return parts.length();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Line line = new Line();
        runBoth(() -> line.add("one"), () -> line.add("three"));
        System.out.println("length " + line.length());
        if (line.length() != 9) {
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
