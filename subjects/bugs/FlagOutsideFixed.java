/* fixed: FlagOutside */
public class FlagOutsideFixed {
    static class Gate {
        private final Object lock = new Object();
        private volatile boolean open;

        void open() {
            synchronized (lock) {
                open = true;
                lock.notifyAll();
            }
        }

        void pass() {
            synchronized (lock) {
                while (!open) {
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
