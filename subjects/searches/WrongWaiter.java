/* failure:
 *   rule: failure
 *   outcome: hang
 *   place: WrongWaiter.java:17
 * about: producers and consumers wait for the same monitor and one is notified: the notification may reach a thread of the wrong kind, which waits again.
 */
public class WrongWaiter {
    private boolean full;

    synchronized void put() throws InterruptedException {
        while (full) wait();
        full = true;
        notify();
    }

    synchronized void take() throws InterruptedException {
        while (!full) wait();
        full = false;
        notify();
    }

    interface Work {
        void run() throws InterruptedException;
    }

    static Thread thread(String name, Work work) {
        return new Thread(() -> {
            try {
                work.run();
                work.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
    }

    public static void main(String[] args) throws InterruptedException {
        WrongWaiter slot = new WrongWaiter();
        Thread[] threads = {
            thread("put one", slot::put), thread("take one", slot::take), thread("put two", slot::put), thread("take two", slot::take),
        };
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
