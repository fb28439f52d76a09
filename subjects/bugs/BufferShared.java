/* bug:
 *   rule data-race | atomicity
 *   variable Record.bytes | Buffer.*
 *   evidence harmful
 *   outcome exit | value | exception
 * about: Two threads put bytes into one buffer without a lock: one overwrites the other.
 */
import java.nio.ByteBuffer;

public class BufferShared {
    static class Record {
        private final ByteBuffer bytes = ByteBuffer.allocate(8);

        void add(byte value) {
            bytes.put(value);
        }

        int size() {
            return bytes.position();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Record record = new Record();
        runBoth(() -> record.add((byte) 1), () -> record.add((byte) 2));
        System.out.println("size " + record.size());
        if (record.size() != 2) {
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
