/* expect:
 *   thread main, clock
 *   begin == 1 by clock
 *   write Cell.value == 1 by clock
 *   read Cell.value == 1 by main
 *   send CountDownLatch == 1 by clock
 *   receive CountDownLatch == 1 by main
 * about: java.util.Timer runs a task once; what main wrote before schedule is visible to it
 */
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

public class Timers {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        cell.value = 3;
        CountDownLatch ran = new CountDownLatch(1);
        Timer timer = new Timer("clock");
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                cell.value = 9;
                ran.countDown();
            }
        }, 5);
        ran.await();
        timer.cancel();
        System.out.println(cell.value);
    }
}
