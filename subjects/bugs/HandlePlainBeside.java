/* bug:
 *   rule data-race | atomicity
 *   variable Gauge.level
 *   evidence confirmed
 *   outcome value
 * about: One thread sets a field through a VarHandle, the other one reads and writes it as a plain field.
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class HandlePlainBeside {
    static class Gauge {
        private static final VarHandle LEVEL;
        private int level;

        static {
            try {
                LEVEL = MethodHandles.lookup().findVarHandle(Gauge.class, "level", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        void raise() {
            LEVEL.getAndAdd(this, 1);
        }

        void raiseByTen() {
            level = level + 10;
        }

        int level() {
            return (int) LEVEL.getVolatile(this);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gauge gauge = new Gauge();
        Thread t1 = new Thread(gauge::raise, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            gauge.raiseByTen();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("level " + gauge.level());
        if (gauge.level() != 11) {
            System.exit(1);
        }
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
