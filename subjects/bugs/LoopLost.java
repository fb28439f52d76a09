/* bug:
 *   rule data-race | atomicity
 *   variable Meter.passed
 *   evidence harmful
 *   outcome exit | value | output
 * about: A volatile counter that threads add to in loops: once an order has made them run side by side, more is lost by chance, in
 *   serial orders of two additions too. Harm shows only if the rest is kept apart.
 */
public class LoopLost {
    static class Meter {
        private volatile int passed;

        void pass() {
            passed = passed + 1;
        }

        int passed() {
            return passed;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Meter meter = new Meter();
        Runnable crowd = () -> {
            for (int i = 0; i < 100; i++) {
                meter.pass();
            }
        };
        runBoth(crowd, crowd);
        System.out.println("passed " + meter.passed());
        if (meter.passed() != 200) {
            System.exit(1);
        }
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
