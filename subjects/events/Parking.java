/* expect:
 *   thread main, t1
 *   send >= 1 by main
 *   receive >= 1 by t1
 *   write Cell.ready == 1 by main
 *   read Cell.value == 1 by t1
 * about: t1 parks until a volatile flag is set and it is unparked; a park with a time that runs out
 */
import java.util.concurrent.locks.LockSupport;

public class Parking {
    static class Cell {
        int value;
        volatile boolean ready;
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        Thread t1 = new Thread(() -> {
            while (!cell.ready) {
                LockSupport.park(cell);
            }
            System.out.println(cell.value);
            LockSupport.parkNanos(1_000_000);
        }, "t1");
        t1.start();
        while (t1.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        cell.value = 6;
        cell.ready = true;
        LockSupport.unpark(t1);
        t1.join();
    }
}
