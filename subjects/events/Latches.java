/* expect:
 *   thread main, t1, t2
 *   send CountDownLatch == 1 by t1
 *   send CountDownLatch == 1 by t2
 *   receive CountDownLatch == 1 by main
 *   write Cell.left == 1 by t1
 *   write Cell.right == 1 by t2
 *   read Cell.left == 1 by main
 *   read Cell.right == 1 by main
 * about: main awaits two counts; a timed await that ran out before receives nothing
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public class Latches {
    static class Cell {
        int left;
        int right;
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(2);
        System.out.println(done.await(5, TimeUnit.MILLISECONDS));
        Cell cell = new Cell();
        cell.left = -1;
        Thread t1 = new Thread(() -> {
            cell.left = 1;
            done.countDown();
        }, "t1");
        Thread t2 = new Thread(() -> {
            cell.right = 2;
            done.countDown();
        }, "t2");
        t1.start();
        t2.start();
        done.await();
        System.out.println(cell.left + cell.right);
        t1.join();
        t2.join();
    }
}
