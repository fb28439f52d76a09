/* bug:
 *   rule data-race | atomicity
 *   variable ArrayDeque.* | ReferredQueue.jobs
 *   evidence harmful
 *   outcome value | exception | output | exit
 * about: The bodies of two threads are the reference jobs::remove to a queue without a lock: no code of the program is on their stacks.
 */
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

public class ReferredQueue {
    static final Queue<String> jobs = new ArrayDeque<>(List.of("one", "two", "three"));

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(jobs::remove, "t1");
        Thread t2 = new Thread(jobs::remove, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("left " + jobs.size());
    }
}
