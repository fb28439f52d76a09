/* fixed: LostSignal */
public class LostSignalFixed {
    static class Bell {
        private boolean rung;

        synchronized void await() {
            while (!rung) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        synchronized void ring() {
            rung = true;
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
