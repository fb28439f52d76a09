import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Many short threads, in groups: first argument how many, second how many at a time, third {@code virtual} or {@code platform}. The last
 * two race. Says how many megabytes the process has had at most.
 */
public class ManyThreads {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws Exception {
        int all = Integer.parseInt(args[0]);
        int group = Integer.parseInt(args[1]);
        Cell[] cells = {new Cell(), new Cell()};
        int ran = 0;
        while (ran < all) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < group; i++) {
                Runnable task = () -> {
                    synchronized (cells) {
                        cells[0].value++;
                    }
                };
                threads.add(start(args[2], task));
            }
            for (Thread thread : threads) thread.join();
            ran += group;
        }
        Cell late = new Cell();
        Thread maker = start(args[2], () -> late.value++);
        Thread other = start(args[2], () -> late.value++);
        maker.join();
        other.join();
        System.out.println(cells[0].value == all);
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) System.err.println("megabytes " + Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024);
        }
    }

    static Thread start(String kind, Runnable task) throws Exception {
        if (kind.equals("platform")) {
            Thread thread = new Thread(task);
            thread.start();
            return thread;
        }
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
