/* expect:
 *   thread main, t1
 *   send FutureTask|task >= 1 by t1
 *   receive FutureTask|task >= 1 by main
 *   write Cell.value == 1 by t1
 *   read Cell.value == 1 by main
 *   join t1 == 1 by main
 * about: a FutureTask run by a thread; get sees what the task wrote; one that fails, one that is cancelled
 */
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

public class FutureTasks {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws Exception {
        Cell cell = new Cell();
        cell.value = 1;
        FutureTask<Integer> task = new FutureTask<>(() -> {
            cell.value = 20;
            return 22;
        });
        Thread t1 = new Thread(task, "t1");
        t1.start();
        System.out.println(task.get() + cell.value);
        t1.join();
        FutureTask<Integer> fails = new FutureTask<>(() -> Integer.parseInt("?"));
        fails.run();
        try {
            fails.get();
        } catch (ExecutionException e) {
            System.out.println(e.getCause().getClass().getSimpleName());
        }
        FutureTask<Integer> cancelled = new FutureTask<>(() -> 1);
        cancelled.cancel(true);
        try {
            cancelled.get();
        } catch (CancellationException e) {
            System.out.println("cancelled");
        }
    }
}
