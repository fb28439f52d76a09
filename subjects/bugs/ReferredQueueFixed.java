/* fixed: ReferredQueue */
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

public class ReferredQueueFixed {
    static final Queue<String> jobs = new ConcurrentLinkedQueue<>(List.of("one", "two", "three"));

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
