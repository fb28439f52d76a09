package libraries;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import stormpot.Allocator;
import stormpot.BasePoolable;
import stormpot.Expiration;
import stormpot.Pool;
import stormpot.Slot;
import stormpot.Timeout;

/**
 * A pool of connections, kept in a registry and in a log. The bug: the pool's thread takes the lock of the registry and then that of the
 * log, and a worker takes them the other way round.
 */
public final class StormpotDriver {
    private static final int WORKERS = 3;
    private static final int ROUNDS = 40;

    static final class Connection extends BasePoolable {
        final int number;

        Connection(Slot slot, int number) {
            super(slot);
            this.number = number;
        }
    }

    static class Office implements Allocator<Connection> {
        final Object registry = new Object();
        final Object log = new Object();
        private final List<Integer> open = new ArrayList<>();
        private final List<String> lines = new ArrayList<>();
        private int made;

        @Override
        public Connection allocate(Slot slot) {
            synchronized (registry) {
                open.add(++made);
                synchronized (log) {
                    lines.add("opened " + made);
                }
                return new Connection(slot, made);
            }
        }

        @Override
        public void deallocate(Connection connection) {
            synchronized (registry) {
                open.remove(Integer.valueOf(connection.number));
            }
        }

        void used(Connection connection) {
            synchronized (log) {
                synchronized (registry) {
                    lines.add("used " + connection.number + " of " + open.size());
                }
            }
        }
    }

    /** Corrected: the same order everywhere. */
    static final class CarefulOffice extends Office {
        @Override
        void used(Connection connection) {
            synchronized (registry) {
                super.used(connection);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Office office = args.length > 0 && args[0].equals("fixed") ? new CarefulOffice() : new Office();
        Pool<Connection> pool = Pool.from(office)
                .setSize(4)
                .setExpiration(Expiration.after(20, TimeUnit.MILLISECONDS))
                .build();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            Thread worker = new Thread(() -> work(pool, office), "worker-" + i);
            workers.add(worker);
            worker.start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        pool.shutdown().await(new Timeout(5, TimeUnit.SECONDS));
        System.out.println("connections closed: " + office.open.isEmpty());
    }

    private static void work(Pool<Connection> pool, Office office) {
        Random random = new Random();
        Timeout patience = new Timeout(5, TimeUnit.SECONDS);
        for (int i = 0; i < ROUNDS; i++) {
            try {
                Connection connection = pool.claim(patience);
                if (connection != null) {
                    Thread.sleep(random.nextInt(20));
                    office.used(connection);
                    connection.release();
                }
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }
}
