/* bug:
 *   rule data-race | atomicity
 *   variable Gauge.levels | int[]
 *   evidence harmful
 *   outcome exit | value
 * about: One thread adds to an element of an array through a VarHandle, the other one reads and writes it in the plain way.
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class HandleElementBeside {
    static class Gauge {
        private static final VarHandle LEVEL = MethodHandles.arrayElementVarHandle(int[].class);
        private final int[] levels = new int[4];

        void raise() {
            LEVEL.getAndAdd(levels, 1, 1);
        }

        void raiseByTen() {
            levels[1] = levels[1] + 10;
        }

        int level() {
            return (int) LEVEL.getVolatile(levels, 1);
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
