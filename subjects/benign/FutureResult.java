/* silent
 * Tasks of a pool return their results through futures and never touch each other's.
 */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class FutureResult {
    static class Result {
        private int value;

        Result(int value) {
            this.value = value;
        }

        int value() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Result>> futures = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            futures.add(pool.submit(() -> new Result(number * number)));
        }
        int sum = 0;
        for (Future<Result> future : futures) {
            sum += future.get().value();
        }
        pool.shutdown();
        System.out.println(sum);
    }
}
