/* expect:
 *   thread main, pool-1-thread-1, pool-1-thread-2
 *   fork pool-1-thread-1 == 1 by main
 *   fork pool-1-thread-2 == 1 by main
 *   write Cell.value == 8
 *   acquire Cell == 8
 *   release Cell == 8
 * about: invokeAll of eight tasks on two threads, then shutdown and awaitTermination
 */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

public class ExecutorBatch {
    static class Cell {
        int value;

        synchronized int add(int amount) {
            return value += amount;
        }
    }

    public static void main(String[] args) throws Exception {
        Cell cell = new Cell();
        cell.value = 0;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int amount = 1 << i;
            tasks.add(() -> {
                cell.add(amount);
                return amount;
            });
        }
        int sum = 0;
        for (Future<Integer> future : pool.invokeAll(tasks)) {
            sum += future.get();
        }
        pool.shutdown();
        System.out.println(sum + " " + cell.value + " " + pool.awaitTermination(10, TimeUnit.SECONDS));
    }
}
