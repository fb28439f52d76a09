package java.lang;

import java.util.concurrent.locks.LockSupport;

/** Words about exceptions that no handler took, and about threads that wait; called seldom, and by threads that are not recorded meanwhile. */
public final class RavelFailures {
    private RavelFailures() {}

    /** The most frames of a stack that are kept. */
    private static final int FRAMES = 40;

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
            return frames(exception.getStackTrace());
        } catch (Throwable again) {
            return "";
        }
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

    /** Where a thread is. */
    static String stack(Thread thread) {
        return frames(thread.getStackTrace());
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
