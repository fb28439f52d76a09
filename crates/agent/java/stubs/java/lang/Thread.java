package java.lang;

/** Only for the compiler: the real class gets these fields when it is loaded. */
public class Thread implements Runnable {
    public long ravel$t;
    public int ravel$n;
    public Object[] ravel$l;
    public int ravel$d;

    public static native Thread currentThread();

    public static native boolean holdsLock(Object o);

    public native boolean isAlive();

    public void run() {}

    public static native void sleep(long millis) throws InterruptedException;

    public static native void sleep(long millis, int nanos) throws InterruptedException;

    public Thread(ThreadGroup group, Runnable task, String name) {}

    public static native boolean interrupted();

    public native boolean isInterrupted();

    public final native String getName();

    public native void start();

    public native void setContextClassLoader(ClassLoader loader);

    public static native void setDefaultUncaughtExceptionHandler(UncaughtExceptionHandler handler);

    public native StackTraceElement[] getStackTrace();

    public native State getState();

    public native UncaughtExceptionHandler getUncaughtExceptionHandler();

    public static native UncaughtExceptionHandler getDefaultUncaughtExceptionHandler();

    public enum State {
        NEW,
        RUNNABLE,
        BLOCKED,
        WAITING,
        TIMED_WAITING,
        TERMINATED
    }

    public interface UncaughtExceptionHandler {
        void uncaughtException(Thread thread, Throwable exception);
    }
}
