/* fixed: PoolLeftOpen
 * about: a task looks and takes in one hold of the lock of the list.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class PoolLeftOpenFixed {
    static final List<String> SEATS = Collections.synchronizedList(new ArrayList<>(List.of("1A", "1B", "1C")));

    static String takeSeat(int after) throws InterruptedException {
        Thread.sleep(after);
        synchronized (SEATS) {
            return SEATS.isEmpty() ? "none" : SEATS.remove(0);
        }
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
