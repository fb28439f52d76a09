/* fault:
 *   exit 0
 *   output exact
 * about: unusual locks: class literals, also of arrays and primitives, interned strings, boxed numbers, the
 *   thread itself, arrays of arrays, an enum, an exception, a lambda, null
 */
public class OddLocks {
    enum Colour { RED }

    static int count;

    static void all(Object... locks) {
        for (Object lock : locks) {
            synchronized (lock) {
                count++;
                synchronized (lock) {
                    count++;
                }
            }
        }
    }

    static synchronized void nested() {
        synchronized (OddLocks.class) {
            count++;
        }
    }

    @SuppressWarnings({"synchronization", "removal"})
    public static void main(String[] args) throws InterruptedException {
        Runnable lambda = () -> count++;
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            threads[i] = new Thread(() -> all(OddLocks.class, int.class, int[].class, "interned",
                    Thread.currentThread(), new int[2][3], Colour.RED, new Exception("lock"), lambda, String.class),
                    "t" + (i + 1));
            threads[i].start();
            threads[i].join();
        }
        nested();
        try {
            synchronized ((Object) null) {
                System.out.println("never");
            }
        } catch (NullPointerException e) {
            System.out.println("null cannot be locked");
        }
        System.out.println(count + " " + Thread.holdsLock("interned"));
    }
}
