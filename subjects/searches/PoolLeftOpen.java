/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: PoolLeftOpen.java:24
 * about: four tasks take a seat each if one is left, and three are left. Two tasks see the last one, and one takes it from an empty list. main dies of
 *   the exception and never shuts the pool down.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class PoolLeftOpen {
    static final List<String> SEATS = Collections.synchronizedList(new ArrayList<>(List.of("1A", "1B", "1C")));

    static String takeSeat(int after) throws InterruptedException {
        Thread.sleep(after);
        if (SEATS.isEmpty()) {
            return "none";
        }
        return SEATS.remove(0);
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<String>> taken = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int after = 40 * i;
            taken.add(pool.submit(() -> takeSeat(after)));
        }
        for (Future<String> seat : taken) {
            System.out.println(seat.get());
        }
        pool.shutdown();
    }
}
