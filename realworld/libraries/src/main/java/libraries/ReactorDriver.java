package libraries;

import java.util.Random;
import java.util.zip.CRC32;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A stream of orders, priced on four rails at once. The bug: each rail adds to the same revenue without a lock, so that an addition can
 * be lost.
 */
public final class ReactorDriver {
    private static final int ORDERS = 3_000;

    record Order(int number, int pieces) {
        long price() {
            CRC32 sum = new CRC32();
            for (int i = 0; i < 2_000; i++) {
                sum.update(number + i);
            }
            return pieces * (1 + sum.getValue() % 2);
        }
    }

    static class Ledger {
        long revenue;

        void book(long price) {
            revenue += price;
        }

        long revenue() {
            return revenue;
        }
    }

    /** Corrected: one rail at a time. */
    static final class CarefulLedger extends Ledger {
        @Override
        synchronized void book(long price) {
            super.book(price);
        }

        @Override
        synchronized long revenue() {
            return super.revenue();
        }
    }

    public static void main(String[] args) {
        Ledger ledger = args.length > 0 && args[0].equals("fixed") ? new CarefulLedger() : new Ledger();
        Random random = new Random();
        Scheduler rails = Schedulers.newParallel("rail", 4);
        Long expected = Flux.range(0, ORDERS)
                .map(number -> new Order(number, 1 + random.nextInt(5)))
                .parallel(4)
                .runOn(rails)
                .map(Order::price)
                .doOnNext(ledger::book)
                .sequential()
                .reduce(0L, Long::sum)
                .block();
        rails.dispose();
        System.out.println("booked " + ledger.revenue() + ", expected " + expected);
        System.exit(ledger.revenue() == expected ? 0 : 1);
    }
}
