/* fixed: InitialiserLocks
 * The thread needs the holder before it takes the lock.
 */
public class InitialiserLocksFixed {
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
            String name = Defaults.NAME;
            synchronized (REGISTRY) {
                length = name.length();
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
