/* silent
 * Work that is divided by a latch and a barrier: each phase reads what the phase before wrote.
 */
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;

public class LatchHandOver {
    static class Phases {
        private final CountDownLatch ready = new CountDownLatch(1);
        private final CyclicBarrier between = new CyclicBarrier(2);
        private final int[] cells = new int[2];
        private int base;

        void prepare(int value) {
            base = value;
            ready.countDown();
        }

        int work(int me) {
            try {
                ready.await();
                cells[me] = base + me;
                between.await();
                return cells[1 - me];
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Phases phases = new Phases();
        int[] seen = new int[2];
        Thread t1 = new Thread(() -> seen[0] = phases.work(0), "t1");
        Thread t2 = new Thread(() -> seen[1] = phases.work(1), "t2");
        t1.start();
        t2.start();
        phases.prepare(40);
        t1.join();
        t2.join();
        System.out.println(seen[0] + " " + seen[1]);
    }
}
