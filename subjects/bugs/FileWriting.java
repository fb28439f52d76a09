/* bug:
 *   rule data-race | atomicity
 *   variable Journal.end
 *   evidence harmful
 *   outcome exit | value
 * about: Each writer takes the end of the file, writes there and moves the end, without a lock: two lines land on the
 *   same place.
 */
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

public class FileWriting {
    static class Journal {
        private final RandomAccessFile file;
        private long end;

        Journal(RandomAccessFile file) {
            this.file = file;
        }

        void write(String line) {
            try {
                byte[] bytes = line.getBytes(StandardCharsets.US_ASCII);
                long start = end;
                synchronized (file) {
                    file.seek(start);
                    file.write(bytes);
                }
                end = start + bytes.length;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Path path = Files.createTempFile("journal", ".txt");
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            Journal journal = new Journal(file);
            runBoth(() -> journal.write("first;"), () -> journal.write("second;"));
        }
        String text = Files.readString(path);
        Files.delete(path);
        System.out.println(text);
        if (!text.contains("first;") || !text.contains("second;")) {
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
