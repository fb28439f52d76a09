/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Buffer.chars | Buffer.count | char[] | StringBuilder.*
 *   evidence harmful
 *   outcome exit | value
 * about: Writing is synchronized, flushing is not: what is written after the flush has copied the buffer and before
 *   it sets the count to zero is lost.
 */
public class BufferedOutput {
    static class Buffer {
        private final char[] chars = new char[16];
        private int count;
        private final StringBuilder file = new StringBuilder();

        synchronized void write(String text) {
            for (int i = 0; i < text.length(); i++) {
                chars[count++] = text.charAt(i);
            }
        }

        void flush() {
            int length = count;
            file.append(chars, 0, length);
            count = 0;
        }

        synchronized String written() {
            return file.toString() + new String(chars, 0, count);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Buffer buffer = new Buffer();
        buffer.write("ab");
        runBoth(buffer::flush, () -> buffer.write("cd"));
        System.out.println(buffer.written());
        if (!buffer.written().equals("abcd")) {
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
