/* bug:
 *   rule lock-order
 *   variable NestedWait.Door
 *   evidence harmful
 *   outcome hang
 * about: Waits on an inner lock and keeps the outer one, which whoever opens the door needs. In the recorded run it is open already,
 *   and nobody waits.
 */
public class NestedWait {
    static class Door {
        private final Object hinge = new Object();
        private boolean open;

        synchronized void await() {
            synchronized (hinge) {
                while (!open) {
                    try {
                        hinge.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
        }

        synchronized void open() {
            synchronized (hinge) {
                open = true;
                hinge.notifyAll();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Door door = new Door();
        runBoth(door::open, door::await);
        System.out.println("through");
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
