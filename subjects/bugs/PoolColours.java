/* bug:
 *   rule atomicity | atomic-set
 *   variable Tally.counts
 *   evidence harmful
 *   outcome output | value | exit
 * about: Tasks of a pool count two keys each in a synchronized map, by get and then put. A thread that comes first finds no
 *   entry, and takes another path through the map than it did when it was recorded.
 */
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class PoolColours {
    static class Tally {
        private final Map<String, Integer> counts = Collections.synchronizedMap(new HashMap<>());

        void count(String colour) {
            Integer old = counts.get(colour);
            counts.put(colour, old == null ? 1 : old + 1);
        }

        int total() {
            int total = 0;
            for (int count : counts.values()) {
                total += count;
            }
            return total;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> {
                tally.count("red");
                tally.count("green");
            });
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println("total " + tally.total());
    }
}
