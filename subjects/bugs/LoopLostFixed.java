/* fixed: LoopLost */
import java.util.concurrent.atomic.AtomicInteger;

public class LoopLostFixed {
    static class Meter {
        private final AtomicInteger passed = new AtomicInteger();

        void pass() {
            passed.incrementAndGet();
        }

        int passed() {
            return passed.get();
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
