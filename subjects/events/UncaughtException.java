/* expect:
 *   thread main, t1, t2
 *   begin == 1 by t1
 *   end == 1 by t1
 *   end == 1 by t2
 *   join t1 == 1 by main
 *   join t2 == 1 by main
 *   acquire Guard == 1 by t1
 *   release Guard == 1 by t1
 * about: t1 dies of an exception that passes through a synchronized method, t2 of an error in a handler of its own
 */
public class UncaughtException {
    static class Guard {
        boolean touched;

        synchronized void fail() {
            throw new IllegalStateException("t1 fails");
        }

        synchronized void touch() {
            touched = true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Guard guard = new Guard();
        guard.touch();
        Thread t1 = new Thread(guard::fail, "t1");
        t1.setUncaughtExceptionHandler((t, e) -> System.out.println(t.getName() + ": " + e.getMessage()));
        t1.start();
        t1.join();
        Thread t2 = new Thread(() -> {
            Object nothing = null;
            nothing.hashCode();
        }, "t2");
        t2.setUncaughtExceptionHandler((t, e) -> {
            System.out.println(t.getName() + ": " + e.getClass().getSimpleName());
            throw new IllegalArgumentException("ignored by the JVM");
        });
        t2.start();
        t2.join();
        guard.touch();
        System.out.println("main goes on");
    }
}
