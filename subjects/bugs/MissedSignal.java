/* bug:
 *   rule data-race | atomicity | atomic-set | unserializable | naked-notify
 *   variable Gate.open
 *   evidence harmful
 *   outcome hang | deadlock
 * about: The waiter looks at the flag before it takes the lock: if the flag is set and the signal given in between,
 *   it waits for a signal that has passed.
 */
public class MissedSignal {
    static class Gate {
        private boolean open;

        void pass() {
            if (!open) {
                synchronized (this) {
                    try {
                        wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
        }

        void open() {
            open = true;
            synchronized (this) {
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
