/* fault:
 *   exit 0
 *   output exact
 * about: stack traces printed from instrumented methods, lambdas, constructors, initialisers, synchronized
 *   methods and JDK callbacks: the same lines with and without recording; also getStackTrace, StackWalker and the
 *   depth of the stack
 */
import java.util.ArrayList;
import java.util.List;

public class StackTraces {
    static class Thrower {
        int count;

        Thrower(boolean fail) {
            count = 1;
            if (fail) {
                throw new IllegalStateException("constructor");
            }
        }

        synchronized void locked() {
            count++;
            inBlock();
        }

        void inBlock() {
            synchronized (this) {
                count++;
                throw new IllegalStateException("block");
            }
        }

        int compare(Integer a, Integer b) {
            count++;
            throw new IllegalStateException("callback");
        }
    }

    static class Initialiser {
        static final int VALUE = new int[1][0].length > 0 ? 1 : Integer.parseInt("none");
    }

    static void show(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) {
            e.printStackTrace(System.out);
        }
    }

    static void all() {
        Thrower thrower = new Thrower(false);
        show(() -> new Thrower(true));
        show(thrower::locked);
        show(() -> {
            List<Integer> numbers = new ArrayList<>(List.of(3, 1, 2));
            numbers.sort(thrower::compare);
        });
        show(() -> System.out.println(Initialiser.VALUE));
        show(() -> {
            Runnable inner = () -> thrower.inBlock();
            inner.run();
        });
    }

    static void where() {
        StackTraceElement here = new Throwable().getStackTrace()[0];
        System.out.println(here.getMethodName() + ":" + here.getLineNumber());
        System.out.println(Thread.currentThread().getStackTrace()[1].getMethodName());
        long depth = StackWalker.getInstance().walk(frames -> frames.count());
        System.out.println(depth);
        StackWalker walker = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
        System.out.println(walker.getCallerClass().getName());
    }

    public static void main(String[] args) throws InterruptedException {
        all();
        where();
        Thread t1 = new Thread(() -> {
            all();
            where();
        }, "t1");
        t1.start();
        t1.join();
    }
}
