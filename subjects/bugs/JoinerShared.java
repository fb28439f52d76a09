/* bug:
 *   rule data-race | atomicity
 *   variable Line.parts | StringJoiner.*
 *   evidence harmful
 *   outcome exit | value | exception
 * about: Two threads add to one StringJoiner without a lock: one part is lost.
 */
import java.util.StringJoiner;

public class JoinerShared {
    static class Line {
        private final StringJoiner parts = new StringJoiner(",");

        void add(String part) {
            parts.add(part);
        }

        int length() {
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
