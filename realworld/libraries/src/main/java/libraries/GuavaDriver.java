package libraries;

import com.google.common.eventbus.AllowConcurrentEvents;
import com.google.common.eventbus.AsyncEventBus;
import com.google.common.eventbus.Subscribe;
import com.google.common.util.concurrent.MoreExecutors;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Seats that are sold by events of a bus. The bug: a seller asks how many seats are left and then takes one, each under the lock, so that the last seat can be sold
 * twice.
 */
public final class GuavaDriver {
    private static final int SEATS = 120;
    private static final int BUYERS = 160;

    static class Hall {
        private int left = SEATS;

        synchronized int left() {
            return left;
        }

        synchronized void take() {
            left--;
        }

        void sell() {
            if (left() > 0) {
                take();
            }
        }
    }

    /** Corrected: both in one step. */
    static final class CarefulHall extends Hall {
        @Override
        synchronized void sell() {
            super.sell();
        }
    }

    record Request(int buyer) {
    }

    public static final class Office {
        private final Hall hall;

        Office(Hall hall) {
            this.hall = hall;
        }

        @Subscribe
        @AllowConcurrentEvents
        public void asked(Request request) {
            hall.sell();
        }
    }

    public static void main(String[] args) throws Exception {
        Hall hall = args.length > 0 && args[0].equals("fixed") ? new CarefulHall() : new Hall();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        AsyncEventBus bus = new AsyncEventBus("sales", pool);
        bus.register(new Office(hall));
        Random random = new Random();
        for (int i = 0; i < BUYERS; i++) {
            bus.post(new Request(i));
            if (i % 4 == 0) {
                Thread.sleep(random.nextInt(5));
            }
        }
        MoreExecutors.shutdownAndAwaitTermination(pool, 10, TimeUnit.SECONDS);
        System.out.println("seats left: " + hall.left());
        System.exit(hall.left() == 0 ? 0 : 1);
    }
}
