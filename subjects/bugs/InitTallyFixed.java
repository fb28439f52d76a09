/* fixed: InitTally */
public class InitTallyFixed {
    static class Tally {
        static final Tally ONE = new Tally();

        private int sum;

        synchronized void add(int amount) {
            sum += amount;
        }

        synchronized int sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        runBoth(() -> Tally.ONE.add(1), () -> Tally.ONE.add(10));
        Tally tally = Tally.ONE;
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
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
