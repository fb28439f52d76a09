package java.lang;

import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.util.concurrent.locks.LockSupport;

/** Words about exceptions that no handler took, and about threads that wait; called seldom, and by threads that are not recorded meanwhile. */
public final class RavelFailures {
    private RavelFailures() {}

    /** The most frames of a stack that are kept. */
    private static final int FRAMES = 40;

    /** The most exceptions that wrap each other. */
    private static final int WRAPPERS = 8;

    /**
     * The stack of an exception that ends its thread, null if the program itself deals with it: by a handler of the thread, of its
     * group, or of all threads; or because the JVM is on its way out, when threads lose what they work with.
     */
    static String uncaught(Thread thread, Throwable exception) {
        try {
            Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
            boolean handled = handler == null || handler.getClass() != ThreadGroup.class
                    || Thread.getDefaultUncaughtExceptionHandler() != null;
            if (handled || exception.getClass().getName().equals("java.lang.ThreadDeath") || endsAlready()) return null;
            return frames(cause(exception).getStackTrace());
        } catch (Throwable again) {
            return "";
        }
    }

    /** What a future or a reflective call wraps: the stack of the wrapper is that of the JDK, or of the thread that asked for the result. */
    private static Throwable cause(Throwable exception) {
        Throwable innermost = exception;
        for (int i = 0; i < WRAPPERS; i++) {
            String name = innermost.getClass().getName();
            boolean wraps = name.equals("java.util.concurrent.CompletionException")
                    || name.equals("java.util.concurrent.ExecutionException")
                    || name.equals("java.lang.reflect.InvocationTargetException")
                    || name.equals("java.lang.reflect.UndeclaredThrowableException");
            Throwable cause = wraps ? innermost.getCause() : null;
            if (cause == null || cause.getStackTrace().length == 0) break;
            innermost = cause;
        }
        return innermost;
    }

    private static boolean endsAlready() {
        try {
            Runtime.getRuntime().removeShutdownHook(null);
        } catch (IllegalStateException ending) {
            return true;
        } catch (NullPointerException notYet) {
            return false;
        }
        return false;
    }

    /** Calls of the program that end it come here instead in forced runs. */
    public static void exit(int status) {
        note(status);
        if ((FLAGS & INSIDE_JVM) != 0) RavelSearch.exit(status);
        else System.exit(status);
    }

    public static void exit(Runtime runtime, int status) {
        exit(status);
    }

    public static void halt(Runtime runtime, int status) {
        note(status);
        if ((FLAGS & INSIDE_JVM) != 0) RavelSearch.exit(status);
        else runtime.halt(status);
    }

    private static void note(int status) {
        Thread thread = Thread.currentThread();
        long t = thread.ravel$t;
        if (status == 0 || t == 0) return;
        // Code of the JDK makes the words: it is not part of what the program does.
        thread.ravel$t = 0;
        String stack = stack(thread);
        thread.ravel$t = t;
        Ravel.exits(thread, status, stack);
    }

    /** Where a thread is. */
    static String stack(Thread thread) {
        return frames(thread.getStackTrace());
    }

    /** What a thread does, as the name of its state. */
    static String state(Thread thread) {
        return thread.getState().name();
    }

    /** What a parked thread waits for, if it says so. */
    static Object blocker(Thread thread) {
        return LockSupport.getBlocker(thread);
    }

    static Object[] keys(java.util.Map<?, ?> map) {
        return map.keySet().toArray();
    }

    /** A line for each frame, {@code shop.Stock.count (Stock.java:14)}. */
    private static String frames(StackTraceElement[] stack) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < stack.length && i < FRAMES; i++) {
            StackTraceElement frame = stack[i];
            text.append(frame.getClassName()).append('.').append(frame.getMethodName()).append(" (");
            if (frame.getFileName() != null) text.append(frame.getFileName());
            if (frame.getLineNumber() > 0) text.append(':').append(frame.getLineNumber());
            text.append(")\n");
        }
        return text.toString();
    }
}
