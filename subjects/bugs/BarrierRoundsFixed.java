/* fixed: BarrierRounds */
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

public class BarrierRoundsFixed {
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
        CyclicBarrier round = new CyclicBarrier(2);
        runBoth(() -> {
            pass(round);
            tally.add(1);
            pass(round);
        }, () -> {
            pass(round);
            tally.add(10);
            pass(round);
        });
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
            System.exit(1);
        }
    }

    static void pass(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
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
