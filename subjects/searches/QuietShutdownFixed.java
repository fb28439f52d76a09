/* fixed: QuietShutdown
 * The worker looks at the flag under the lock.
 */
import java.util.ArrayDeque;

public class QuietShutdownFixed {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private volatile boolean over;

    void work() throws InterruptedException {
        while (!over) {
            Runnable task;
            synchronized (tasks) {
                while (tasks.isEmpty() && !over) {
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
        QuietShutdownFixed queue = new QuietShutdownFixed();
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
