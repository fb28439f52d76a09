/* expect:
 *   thread main
 *   read Cell.value == 1 by main
 *   write Cell.value == 2
 *   receive CompletableFuture|task >= 1 by main
 * about: supplyAsync and thenApplyAsync on a pool of the program's own, whose two threads write in turn
 */
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class CompletableAsync {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws Exception {
        Cell cell = new Cell();
        cell.value = 1;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Integer> sum = CompletableFuture.supplyAsync(() -> {
            cell.value = 10;
            return 1;
        }, pool).thenApplyAsync(x -> {
            cell.value = 20;
            return x + 1;
        }, pool);
        System.out.println(sum.get() + cell.value);
        pool.shutdown();
    }
}
