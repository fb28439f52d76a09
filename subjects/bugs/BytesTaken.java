/* bug:
 *   rule atomicity | atomic-set
 *   variable Out.bytes | ByteArrayOutputStream.*
 *   evidence harmful
 *   outcome exit | value | exception
 * about: A stream of bytes is synchronized, call by call: taking its bytes and resetting it are two calls, and what comes in between is lost.
 */
import java.io.ByteArrayOutputStream;
import java.util.concurrent.atomic.AtomicInteger;

public class BytesTaken {
    static class Out {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final AtomicInteger sent = new AtomicInteger();

        void write(int value) {
            bytes.write(value);
        }

        void flush() {
            sent.addAndGet(bytes.size());
            bytes.reset();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Out out = new Out();
        out.write(1);
        runBoth(out::flush, () -> out.write(2));
        out.flush();
        System.out.println("sent " + out.sent.get());
        if (out.sent.get() != 2) {
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
