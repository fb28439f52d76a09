/* bug:
 *   rule data-race
 *   variable HookReads.lines | ArrayList.modCount | ArrayList.size
 *   evidence harmful
 *   outcome exception
 * about: a thread that runs when the JVM ends goes through a list while a daemon thread still adds to it.
 */
import java.util.ArrayList;
import java.util.List;

public class HookReads {
    static final List<String> lines = new ArrayList<>();

    static void note(String line) {
        lines.add(line);
    }

    static void print() {
        int length = 0;
        for (String line : lines) {
            length += line.length();
        }
        System.out.println(length > 0);
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            lines.add("start " + i);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(HookReads::print, "hook"));
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
