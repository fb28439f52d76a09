/* finding: nested-wait
 * about: `next` waits on the queue while it holds the registry, which `submit` needs.
 */
import java.util.ArrayDeque;

public class Dispatcher {
    private final Object registry = new Object();
    private final ArrayDeque<Runnable> queue = new ArrayDeque<>();

    public void submit(Runnable task) {
        synchronized (registry) {
            synchronized (queue) {
                queue.add(task);
                queue.notifyAll();
            }
        }
    }

    public Runnable next() throws InterruptedException {
        synchronized (registry) {
            synchronized (queue) {
                while (queue.isEmpty()) {
                    queue.wait();
                }
                return queue.remove();
            }
        }
    }
}
