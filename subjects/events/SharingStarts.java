/* expect:
 *   thread main, t1
 *   write Cell.before == 0
 *   write Cell.after == 1 by main
 *   read Cell.before == 1 by t1
 *   read Cell.after == 1 by t1
 * about: before t1's first touch nothing of the cell is recorded, from then on everything is; a latch each way
 */
import java.util.concurrent.CountDownLatch;

public class SharingStarts {
    static class Cell {
        int before;
        int after;
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch touched = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        Cell cell = new Cell();
        cell.before = 4;
        Thread t1 = new Thread(() -> {
            int sum = cell.before;
            touched.countDown();
            try {
                written.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            System.out.println(sum + cell.after);
        }, "t1");
        t1.start();
        touched.await();
        cell.after = 5;
        written.countDown();
        t1.join();
    }
}
