/* bug:
 *   rule atomicity | atomic-set
 *   variable Tally.sum
 *   evidence harmful
 *   outcome exit | value
 * about: Reads a field through a VarHandle and sets it to the sum: each access is atomic, the two together are not.
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class HandleGetThenSet {
    static class Tally {
        private static final VarHandle SUM;
        private volatile int sum;

        static {
            try {
                SUM = MethodHandles.lookup().findVarHandle(Tally.class, "sum", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        void add(int amount) {
            SUM.setVolatile(this, (int) SUM.getVolatile(this) + amount);
        }

        int sum() {
            return (int) SUM.getVolatile(this);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        runBoth(() -> tally.add(1), () -> tally.add(10));
        System.out.println("sum " + tally.sum());
        if (tally.sum() != 11) {
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
