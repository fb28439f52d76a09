/* expect:
 *   thread main, t1, t2
 *   send CompletableFuture|task >= 1 by t1
 *   receive CompletableFuture|task >= 1 by t2
 *   write Cell.value == 1 by t1
 *   read Cell.value == 1 by t2
 *   join t1 == 1 by main
 *   join t2 == 1 by main
 * about: t1 completes, t2 joins the future; then a chain, a combination and an exception, all in main
 */
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

public class CompletableFutures {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws Exception {
        Cell cell = new Cell();
        cell.value = 1;
        CompletableFuture<Integer> ready = new CompletableFuture<>();
        Thread t2 = new Thread(() -> System.out.println(ready.join() + cell.value), "t2");
        Thread t1 = new Thread(() -> {
            cell.value = 5;
            ready.complete(10);
        }, "t1");
        t2.start();
        t1.start();
        t1.join();
        t2.join();
        CompletableFuture<Integer> other = CompletableFuture.completedFuture(3);
        System.out.println(ready.thenApply(x -> x * 2).thenCombine(other, Integer::sum).get());
        CompletableFuture<Integer> failed = ready.thenApply(x -> 1 / (x - 10));
        try {
            failed.join();
        } catch (CompletionException e) {
            System.out.println(e.getCause().getMessage());
        }
        System.out.println(failed.exceptionally(e -> -1).getNow(0));
    }
}
