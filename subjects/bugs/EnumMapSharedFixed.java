/* fixed: EnumMapShared */
import java.util.EnumMap;
import java.util.Map;

public class EnumMapSharedFixed {
    enum Day { MONDAY, TUESDAY }

    static class Days {
        private final Map<Day, Integer> hours = new EnumMap<>(Day.class);

        synchronized void set(Day day, int value) {
            hours.put(day, value);
        }

        synchronized int size() {
            return hours.size();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Days days = new Days();
        runBoth(() -> days.set(Day.MONDAY, 8), () -> days.set(Day.TUESDAY, 6));
        System.out.println("days " + days.size());
        if (days.size() != 2) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
