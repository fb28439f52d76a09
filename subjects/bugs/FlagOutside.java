/* bug:
 *   rule naked-notify
 *   variable Gate.lock
 *   evidence harmful
 *   outcome hang
 * about: The flag is looked at before the lock is taken: who sees it down and is told of its rise before it waits, waits for ever.
 */
public class FlagOutside {
    static class Gate {
        private final Object lock = new Object();
        private volatile boolean open;

        void open() {
            open = true;
            synchronized (lock) {
                lock.notifyAll();
            }
        }

        void pass() {
            while (!open) {
                synchronized (lock) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        Thread t1 = new Thread(gate::pass, "t1");
        t1.start();
        nap(100);
        gate.open();
        t1.join();
        System.out.println("passed");
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
