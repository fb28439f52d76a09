/* fixed: MissedSignal */
public class MissedSignalFixed {
    static class Gate {
        private boolean open;

        void pass() {
            synchronized (this) {
                while (!open) {
                    try {
                        wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
        }

        void open() {
            synchronized (this) {
                open = true;
                notifyAll();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        runBoth(gate::pass, gate::open);
        System.out.println("passed");
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
