/* bug:
 *   rule naked-notify
 *   variable LostSignal.Bell
 *   evidence harmful
 *   outcome hang
 * about: The signal leaves nothing behind: who comes after it waits for ever. In the recorded run the waiter is there in time, by 100
 *   milliseconds.
 */
public class LostSignal {
    static class Bell {
        synchronized void await() {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        synchronized void ring() {
            notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Bell bell = new Bell();
        runBoth(bell::await, bell::ring);
        System.out.println("rung");
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
