/* silent
 * The results of a method that another thread interrupts come from identity hash codes: they differ from run to run, whatever the order of
 * the threads.
 */
import java.util.concurrent.atomic.AtomicInteger;

public class IdentityHashes {
    static class Desk {
        private final AtomicInteger calls = new AtomicInteger();

        String ticket() {
            int before = calls.get();
            Object ticket = new Object();
            String text = ticket + " " + System.identityHashCode(ticket);
            return calls.get() >= before ? text : "";
        }

        void call() {
            calls.incrementAndGet();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Desk desk = new Desk();
        Thread t1 = new Thread(() -> System.out.println(desk.ticket()), "t1");
        Thread t2 = new Thread(desk::call, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(desk.calls.get());
    }
}
