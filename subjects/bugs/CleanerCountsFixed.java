/* fixed: CleanerCounts
 * The count is an AtomicInteger.
 */
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicInteger;

public class CleanerCountsFixed {
    private static final Cleaner CLEANER = Cleaner.create();
    static final AtomicInteger open = new AtomicInteger();
    static volatile boolean cleaned;

    static class Handle {
        Handle() {
            open.incrementAndGet();
            CLEANER.register(this, CleanerCountsFixed::closed);
        }
    }

    static void closed() {
        open.decrementAndGet();
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
        int left = open.get();
        System.out.println("open " + left + " with " + (handle != null));
        if (left != 1) {
            System.exit(1);
        }
    }
}
