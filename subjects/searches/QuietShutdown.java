/* failure:
 *   rule: failure
 *   outcome: hang
 *   place: QuietShutdown.java:18
 * about: a worker looks at the flag before it takes the lock: the shutdown between the two notifies no thread, and the worker waits for good.
 */
import java.util.ArrayDeque;

public class QuietShutdown {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private volatile boolean over;

    void work() throws InterruptedException {
        while (!over) {
            Runnable task;
            synchronized (tasks) {
                if (tasks.isEmpty()) {
                    tasks.wait();
                }
                task = tasks.poll();
            }
            if (task != null) task.run();
        }
    }

    void add(Runnable task) {
        synchronized (tasks) {
            tasks.add(task);
            tasks.notify();
        }
    }

    void shutDown() {
        synchronized (tasks) {
            over = true;
            tasks.notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        QuietShutdown queue = new QuietShutdown();
        int[] done = new int[1];
        Thread worker = new Thread(() -> {
            try {
                queue.work();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "worker");
        worker.start();
        queue.add(() -> done[0]++);
        queue.shutDown();
        worker.join();
    }
}
