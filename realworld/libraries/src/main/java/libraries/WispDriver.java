package libraries;

import com.coreoz.wisp.Scheduler;
import com.coreoz.wisp.schedule.Schedules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Jobs of a scheduler: two measure, one reports. The bug: the report goes through the list of measurements while the other jobs
 * add to it.
 */
public final class WispDriver {
    static class Station {
        final List<Integer> values = new ArrayList<>();

        void measure(int value) {
            synchronized (values) {
                values.add(value);
            }
        }

        long report() {
            long sum = 0;
            for (int value : values) {
                sum += value;
            }
            return sum;
        }
    }

    /** Corrected: the report has the lock too. */
    static final class CarefulStation extends Station {
        @Override
        long report() {
            synchronized (values) {
                return super.report();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Station station = args.length > 0 && args[0].equals("fixed") ? new CarefulStation() : new Station();
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger reported = new AtomicInteger();
        Scheduler scheduler = new Scheduler();
        scheduler.schedule("north", () -> station.measure(3), Schedules.fixedDelaySchedule(Duration.ofMillis(7)));
        scheduler.schedule("south", () -> station.measure(4), Schedules.fixedDelaySchedule(Duration.ofMillis(11)));
        scheduler.schedule("report", () -> {
            begun.incrementAndGet();
            station.report();
            reported.incrementAndGet();
        }, Schedules.fixedDelaySchedule(Duration.ofMillis(13)));
        Thread.sleep(1_000);
        scheduler.gracefullyShutdown();
        int failed = begun.get() - reported.get();
        System.out.println("reports that failed: " + failed);
        System.exit(failed == 0 ? 0 : 1);
    }
}
