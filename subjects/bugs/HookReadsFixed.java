/* fixed: HookReads
 * The list is changed and gone through under its lock.
 */
import java.util.ArrayList;
import java.util.List;

public class HookReadsFixed {
    static final List<String> lines = new ArrayList<>();

    static void note(String line) {
        synchronized (lines) {
            lines.add(line);
        }
    }

    static void print() {
        int length = 0;
        synchronized (lines) {
            for (String line : lines) {
                length += line.length();
            }
        }
        System.out.println(length > 0);
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            note("start " + i);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(HookReadsFixed::print, "hook"));
        Thread worker = new Thread(() -> {
            nap(30);
            note("work");
        }, "worker");
        worker.setDaemon(true);
        worker.start();
        nap(250);
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
