/* expect:
 *   thread main, ticker
 *   write Cell.value == 1 by ticker
 *   read Cell.value == 1 by main
 *   fork ticker == 1 by main
 * about: a scheduled executor: one delayed task, and a periodic one that is cancelled after its third run
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

public class Scheduled {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws Exception {
        Cell cell = new Cell();
        cell.value = 1;
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1, task -> new Thread(task, "ticker"));
        ScheduledFuture<String> once = timer.schedule(() -> {
            cell.value = 7;
            return "once";
        }, 5, TimeUnit.MILLISECONDS);
        System.out.println(once.get() + " " + cell.value);
        CountDownLatch thrice = new CountDownLatch(3);
        ScheduledFuture<?> again = timer.scheduleAtFixedRate(thrice::countDown, 1, 2, TimeUnit.MILLISECONDS);
        thrice.await();
        System.out.println(again.cancel(false) + " " + again.isCancelled());
        timer.shutdown();
    }
}
