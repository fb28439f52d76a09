/* bug:
 *   rule atomicity | atomic-set
 *   variable VolatileTasks.hits
 *   evidence harmful
 *   outcome value | exit | output
 * about: Tasks of a pool count on a volatile field, in the lambda itself: each access is ordered, the two together are not atomic.
 */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class VolatileTasks {
    static volatile int hits;

    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 4; i++) {
            pool.execute(() -> hits++);
        }
        pool.shutdown();
        pool.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println("hits " + hits);
    }
}
