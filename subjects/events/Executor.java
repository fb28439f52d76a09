/* expect:
 *   thread main, worker
 *   fork worker == 1 by main
 *   write Cell.first == 1 by worker
 *   write Cell.second == 1 by worker
 *   read Cell.first == 1 by main
 *   read Cell.second == 1 by main
 *   end == 1 by worker
 * about: a single-thread executor; submit and execute hand the task over, get and awaitTermination hand back
 */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

public class Executor {
    static class Cell {
        int first;
        int second;
    }

    public static void main(String[] args) throws Exception {
        Cell cell = new Cell();
        cell.first = -1;
        Thread[] made = new Thread[1];
        ExecutorService pool = Executors.newSingleThreadExecutor(task -> made[0] = new Thread(task, "worker"));
        Future<Integer> result = pool.submit(() -> cell.first = 1);
        System.out.println(result.get() + cell.first);
        pool.execute(() -> cell.second = 2);
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS) + " " + cell.second);
        made[0].join();
    }
}
