/* fault:
 *   exit 0
 *   output any
 * about: two seconds of threads that start threads and share objects, long enough to be killed at any moment
 */
import java.util.ArrayList;
import java.util.List;

public class StartAndDie {
    static class Shared {
        private final List<Integer> numbers = new ArrayList<>();
        private int sum;

        synchronized void add(int number) {
            numbers.add(number);
            sum += number;
            if (numbers.size() > 1000) {
                numbers.clear();
            }
        }

        synchronized int sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Shared shared = new Shared();
        long end = System.nanoTime() + 2_000_000_000L;
        int threads = 0;
        while (System.nanoTime() < end) {
            Thread[] batch = new Thread[4];
            for (int i = 0; i < batch.length; i++) {
                int base = i;
                batch[i] = new Thread(() -> {
                    for (int j = 0; j < 500; j++) {
                        shared.add(base + j);
                    }
                });
                batch[i].start();
                threads++;
            }
            for (Thread thread : batch) {
                thread.join();
            }
        }
        System.out.println(threads > 0 && shared.sum() != 0 ? "done" : "nothing");
    }
}
