package libraries;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;

/**
 * Connections of a pool that count what they did in a common list. The bug: the report goes through the list without the lock under which workers add to it.
 */
public final class CommonsPoolDriver {
    private static final int WORKERS = 4;
    private static final int JOBS = 60;

    static final class Connection {
        int use() {
            return 1;
        }
    }

    static final class Connections extends BasePooledObjectFactory<Connection> {
        @Override
        public Connection create() {
            return new Connection();
        }

        @Override
        public PooledObject<Connection> wrap(Connection connection) {
            return new DefaultPooledObject<>(connection);
        }
    }

    static class Log {
        private final List<Integer> entries = new ArrayList<>();

        synchronized void add(int entry) {
            entries.add(entry);
        }

        long sum() {
            long sum = 0;
            for (int entry : entries) {
                sum += entry;
            }
            return sum;
        }
    }

    /** Corrected: the report has the lock too. */
    static final class CarefulLog extends Log {
        @Override
        synchronized long sum() {
            return super.sum();
        }
    }

    public static void main(String[] args) throws Exception {
        Log log = args.length > 0 && args[0].equals("fixed") ? new CarefulLog() : new Log();
        try (GenericObjectPool<Connection> pool = new GenericObjectPool<>(new Connections())) {
            pool.setMaxTotal(3);
            List<Thread> workers = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                Thread worker = new Thread(() -> work(pool, log), "worker-" + i);
                workers.add(worker);
                worker.start();
            }
            long last = 0;
            for (int i = 0; i < 20; i++) {
                Thread.sleep(5);
                last = log.sum();
            }
            for (Thread worker : workers) {
                worker.join();
            }
            System.out.println("in between " + (last >= 0) + ", at the end " + log.sum());
        }
    }

    private static void work(GenericObjectPool<Connection> pool, Log log) {
        Random random = new Random();
        for (int i = 0; i < JOBS; i++) {
            try {
                Connection connection = pool.borrowObject();
                log.add(connection.use());
                pool.returnObject(connection);
                Thread.sleep(random.nextInt(4));
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }
    }
}
