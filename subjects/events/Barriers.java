/* expect:
 *   thread main, t1, t2
 *   send CyclicBarrier >= 2 by t1
 *   receive CyclicBarrier >= 2 by t1
 *   send CyclicBarrier >= 2 by t2
 *   receive CyclicBarrier >= 2 by t2
 *   write int[] == 2 by t1
 *   write int[] == 2 by t2
 * about: two threads, two rounds, each writes its own cells and reads the other's after the barrier; the action runs
 *   once a round
 */
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

public class Barriers {
    static final int[] cells = new int[4];
    static int rounds;

    public static void main(String[] args) throws InterruptedException {
        cells[0] = -1;
        CyclicBarrier barrier = new CyclicBarrier(2, () -> rounds++);
        Thread t1 = new Thread(() -> work(barrier, 0), "t1");
        Thread t2 = new Thread(() -> work(barrier, 1), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(cells[0] + cells[1] + cells[2] + cells[3] + " rounds " + rounds);
    }

    static void work(CyclicBarrier barrier, int me) {
        try {
            cells[me] = 1 + me;
            barrier.await();
            int other = cells[1 - me];
            cells[2 + me] = other * 10;
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }
}
