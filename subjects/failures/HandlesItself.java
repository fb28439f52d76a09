/* silent
 * Exceptions that the program deals with: a handler of one thread, a group of its own, a handler of all threads, a task whose
 * exception its future has, and an exit code other than 0.
 */
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class HandlesItself {
    static int handled;

    static synchronized void note(Thread thread, Throwable exception) {
        handled++;
    }

    static void fails() {
        throw new IllegalStateException("on purpose");
    }

    public static void main(String[] args) throws InterruptedException {
        Thread own = new Thread(HandlesItself::fails, "own");
        own.setUncaughtExceptionHandler(HandlesItself::note);
        ThreadGroup group = new ThreadGroup("group") {
            @Override
            public void uncaughtException(Thread thread, Throwable exception) {
                note(thread, exception);
            }
        };
        Thread grouped = new Thread(group, HandlesItself::fails, "grouped");
        own.start();
        grouped.start();
        own.join();
        grouped.join();
        Thread.setDefaultUncaughtExceptionHandler(HandlesItself::note);
        Thread plain = new Thread(HandlesItself::fails, "plain");
        plain.start();
        plain.join();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> future = pool.submit(HandlesItself::fails);
        try {
            future.get();
        } catch (ExecutionException e) {
            note(null, e);
        }
        pool.shutdown();
        System.exit(handled == 4 ? 3 : 4);
    }
}
