/* expect:
 *   thread main
 *   fork >= 50 by main
 *   write Cell.value == 50
 *   acquire ReentrantLock == 50
 * about: an executor that makes a virtual thread for each of fifty tasks, which sleep and lock
 */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualExecutor {
    static class Cell {
        final ReentrantLock lock = new ReentrantLock();
        int value;
    }

    public static void main(String[] args) {
        Cell cell = new Cell();
        cell.value = 0;
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 50; i++) {
                pool.submit(() -> {
                    Thread.sleep(5);
                    cell.lock.lock();
                    try {
                        cell.value++;
                    } finally {
                        cell.lock.unlock();
                    }
                    return null;
                });
            }
        }
        System.out.println(cell.value);
    }
}
