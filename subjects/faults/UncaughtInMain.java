/* fault:
 *   exit 1
 *   output exact
 * about: main dies of an exception with a cause; its trace on standard error is the same with and without
 *   recording
 */
public class UncaughtInMain {
    static class Level {
        int depth;

        synchronized void down(int left) {
            depth++;
            if (left == 0) {
                throw new IllegalArgumentException("bottom");
            }
            down(left - 1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Level level = new Level();
        Thread t1 = new Thread(() -> level.depth = 1, "t1");
        t1.start();
        t1.join();
        try {
            level.down(3);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException("depth " + level.depth, e);
        }
    }
}
