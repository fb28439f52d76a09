/* silent
 * Three threads that each take two tickets and look at how many were given: which numbers a thread gets depends on the order of all of them.
 */
import java.util.concurrent.atomic.AtomicInteger;

public class TicketDispenser {
    private final AtomicInteger next = new AtomicInteger();

    int take() {
        int ticket = next.get();
        while (!next.compareAndSet(ticket, ticket + 1)) {
            ticket = next.get();
        }
        return ticket;
    }

    int given() {
        return next.get();
    }

    public static void main(String[] args) throws InterruptedException {
        TicketDispenser dispenser = new TicketDispenser();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                int first = dispenser.take();
                int second = dispenser.take();
                if (second <= first || dispenser.given() <= second) throw new IllegalStateException("a number was given twice");
            }, "customer " + i);
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        if (dispenser.given() != 6) throw new IllegalStateException("a ticket is lost");
    }
}
