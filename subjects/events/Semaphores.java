/* expect:
 *   thread main, t1, t2
 *   receive Semaphore >= 1 by t2
 *   send Semaphore >= 1 by t1
 *   write Cell.value == 1 by t1
 *   read Cell.value == 1 by t2
 * about: t1 releases a permit, t2 acquires it: a hand-over; then tryAcquire with and without success
 */
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

public class Semaphores {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Semaphore permits = new Semaphore(0);
        System.out.println(permits.tryAcquire());
        Cell cell = new Cell();
        cell.value = 1;
        Thread t2 = new Thread(() -> {
            try {
                permits.acquire();
                System.out.println(cell.value);
                System.out.println(permits.tryAcquire(5, TimeUnit.MILLISECONDS));
                permits.release(2);
                System.out.println(permits.tryAcquire(2));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t2");
        Thread t1 = new Thread(() -> {
            cell.value = 2;
            permits.release();
        }, "t1");
        t2.start();
        t1.start();
        t1.join();
        t2.join();
        System.out.println(permits.availablePermits());
    }
}
