/* fixed: WrongWaiter
 * All are notified.
 */
public class WrongWaiterFixed {
    private boolean full;

    synchronized void put() throws InterruptedException {
        while (full) wait();
        full = true;
        notifyAll();
    }

    synchronized void take() throws InterruptedException {
        while (!full) wait();
        full = false;
        notifyAll();
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
        WrongWaiterFixed slot = new WrongWaiterFixed();
        Thread[] threads = {
            thread("put one", slot::put), thread("take one", slot::take), thread("put two", slot::put), thread("take two", slot::take),
        };
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
