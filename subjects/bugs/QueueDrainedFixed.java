/* fixed: QueueDrained */
import java.util.concurrent.ConcurrentLinkedQueue;

public class QueueDrainedFixed {
    static class Desk {
        private final ConcurrentLinkedQueue<String> waiting = new ConcurrentLinkedQueue<>();

        int serve() {
            int served = 0;
            String next = waiting.poll();
            if (next != null) {
                served = next.length();
            }
            return served;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Desk desk = new Desk();
        desk.waiting.add("ann");
        runBoth(desk::serve, desk::serve);
        System.out.println("left " + desk.waiting.size());
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
