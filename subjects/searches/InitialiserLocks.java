/* failure:
 *   rule: lock-order
 *   outcome: deadlock
 *   place: InitialiserLocks.java:14
 * about: a lazy holder whose initialiser takes the lock that another thread holds when it first needs the holder.
 */
public class InitialiserLocks {
    static final Object REGISTRY = new Object();

    static final class Defaults {
        static final String NAME;

        static {
            synchronized (REGISTRY) {
                NAME = String.valueOf(42);
            }
        }
    }

    static int length;

    public static void main(String[] args) throws Exception {
        Thread reads = new Thread(() -> System.out.println(Defaults.NAME), "reads");
        Thread registers = new Thread(() -> {
            synchronized (REGISTRY) {
                length = Defaults.NAME.length();
            }
        }, "registers");
        reads.start();
        Thread.sleep(30);
        registers.start();
        reads.join();
        registers.join();
        System.out.println(length);
    }
}
