/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable CleanerCounts.open
 *   evidence harmful
 *   outcome value | exit
 * about: the thread of a Cleaner counts handles down that the program counts up, without a lock.
 */
import java.lang.ref.Cleaner;

public class CleanerCounts {
    private static final Cleaner CLEANER = Cleaner.create();
    static int open;
    static volatile boolean cleaned;

    static class Handle {
        Handle() {
            open++;
            CLEANER.register(this, CleanerCounts::closed);
        }
    }

    static void closed() {
        open--;
        cleaned = true;
    }

    static void openOne() {
        new Handle();
    }

    public static void main(String[] args) throws InterruptedException {
        openOne();
        // What was opened is dropped; usually its Cleaner has run long before the next one is opened.
        System.gc();
        Thread.sleep(250);
        Handle handle = new Handle();
        while (!cleaned) {
            System.gc();
            Thread.sleep(20);
        }
        int left = open;
        System.out.println("open " + left + " with " + (handle != null));
        if (left != 1) {
            System.exit(1);
        }
    }
}
