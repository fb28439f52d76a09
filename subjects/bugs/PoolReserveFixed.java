/* fixed: PoolReserve */
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class PoolReserveFixed {
    static class Inventory {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private final Map<String, Integer> stock = new HashMap<>();

        void put(String item, int count) {
            lock.writeLock().lock();
            try {
                stock.put(item, count);
            } finally {
                lock.writeLock().unlock();
            }
        }

        int get(String item) {
            lock.readLock().lock();
            try {
                return stock.getOrDefault(item, 0);
            } finally {
                lock.readLock().unlock();
            }
        }

        boolean reserve(String item, int count) {
            lock.writeLock().lock();
            try {
                int left = get(item);
                if (left < count) {
                    return false;
                }
                put(item, left - count);
                return true;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Inventory inventory = new Inventory();
        inventory.put("seat", 10);
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Boolean>> reservations = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            reservations.add(pool.submit(() -> inventory.reserve("seat", 2)));
        }
        int made = 0;
        for (Future<Boolean> reservation : reservations) {
            if (reservation.get()) {
                made++;
            }
        }
        pool.shutdown();
        System.out.println(made + " reservations, left " + inventory.get("seat"));
    }
}
