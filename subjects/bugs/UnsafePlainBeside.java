/* bug:
 *   rule data-race | atomicity
 *   variable Gauge.level
 *   evidence harmful
 *   outcome exit | value
 * about: One thread adds to a field through Unsafe, the other one reads and writes it as a plain field.
 */
import java.lang.reflect.Field;
import sun.misc.Unsafe;

public class UnsafePlainBeside {
    static class Gauge {
        private static final Unsafe UNSAFE;
        private static final long LEVEL;
        private int level;

        static {
            try {
                Field field = Unsafe.class.getDeclaredField("theUnsafe");
                field.setAccessible(true);
                UNSAFE = (Unsafe) field.get(null);
                LEVEL = UNSAFE.objectFieldOffset(Gauge.class.getDeclaredField("level"));
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        void raise() {
            UNSAFE.getAndAddInt(this, LEVEL, 1);
        }

        void raiseByTen() {
            level = level + 10;
        }

        int level() {
            return UNSAFE.getIntVolatile(this, LEVEL);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gauge gauge = new Gauge();
        runBoth(gauge::raise, gauge::raiseByTen);
        System.out.println("level " + gauge.level());
        if (gauge.level() != 11) {
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
