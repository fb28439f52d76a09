/* fixed: BarrierTally */
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

public class BarrierTallyFixed {
    static class Tally {
        private int sum;

        synchronized void add(int amount) {
            sum += amount;
        }

        synchronized int sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        CyclicBarrier start = new CyclicBarrier(2);
        runBoth(() -> {
            pass(start);
            tally.add(1);
        }, () -> {
            pass(start);
            nap(100);
            tally.add(10);
        });
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(second, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void pass(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
