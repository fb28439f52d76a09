package java.lang;

import static java.lang.RavelLayout.Ended.*;

import jdk.internal.misc.Unsafe;

/**
 * What a class with steps of a goal calls in a directed run. A hook that no goal needs at the moment ends after one look at a
 * table; the others go to the agent, which may hold the thread there.
 */
public final class RavelDirector {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** A byte for each site, and after them one for each unit: not 0 while a goal needs it. */
    private static final long ARMED = table(false);
    private static final long UNITS = table(true);
    /** The most frames of a stack that are kept. */
    private static final int FRAMES = 40;
    private static final long NUMBER = numberOffset();

    private RavelDirector() {
    }

    /** JDK 8 tells it of a field as reflection has it alone, others by its name. */
    private static long numberOffset() {
        java.lang.reflect.Field number = number();
        return number == null ? U.objectFieldOffset(Thread.class, "tid") : U.objectFieldOffset(number);
    }

    private static long thread() {
        return U.getLong(Thread.currentThread(), NUMBER);
    }

    /** An opaque read: a plain one may be hoisted out of a loop and would never see a change. */
    private static boolean armed(int site) {
        return U.getByteOpaque(null, ARMED + site) != 0;
    }

    public static void before(Object object, int site) {
        if (armed(site)) arrive(object, null, 0, site, thread());
    }

    public static void before(Object array, int index, int site) {
        if (armed(site)) arrive(array, null, index, site, thread());
    }

    public static void before(Object object, Object key, int site) {
        if (armed(site)) arrive(object, key, 0, site, thread());
    }

    public static void after(int site) {
        if (armed(site)) complete(site, thread(), false, 0);
    }

    public static void afterValue(long value, int site) {
        if (armed(site)) complete(site, thread(), true, value);
    }

    /** A thread is about to write a number where another one is. */
    public static void writes(long value, long old, int site) {
        if (armed(site)) writing(site, thread(), old, value);
    }

    private static boolean unitArmed(int unit) {
        return U.getByteOpaque(null, UNITS + unit) != 0;
    }

    public static void enter(int unit) {
        if (unitArmed(unit)) entered(unit, thread());
    }

    public static void leave(int unit) {
        if (unitArmed(unit)) left(unit, thread(), NOTHING, null);
    }

    public static void leaveValue(long value, int unit) {
        if (unitArmed(unit)) left(unit, thread(), VALUE, Long.toString(value));
    }

    /** Only values of the JDK's own classes are told: no code of the program runs here. */
    public static void leaveObject(Object value, int unit) {
        if (!unitArmed(unit)) return;
        String words = words(value);
        if (words == null) left(unit, thread(), OBJECT, value.getClass().getName());
        else left(unit, thread(), VALUE, words);
    }

    public static void leaveThrown(Throwable exception, int unit) {
        if (unitArmed(unit)) left(unit, thread(), THROWN, exception.getClass().getName());
    }

    /** A value as a program spells it; null for objects that have no spelling. */
    private static String words(Object value) {
        if (value == null) return "null";
        if (value instanceof String) {
            String text = (String) value;
            return "\"".concat(text.length() > 200 ? text.substring(0, 200) : text).concat("\"");
        }
        Class<?> of = value.getClass();
        boolean known = of == Integer.class || of == Long.class || of == Boolean.class || of == Short.class
                || of == Byte.class || of == Character.class;
        if (value instanceof Enum) return ((Enum<?>) value).name();
        return known ? value.toString() : null;
    }

    /** A thread ends by an exception that no handler took. */
    public static void uncaught(Thread thread, Throwable exception) {
        died(thread, exception.getClass().getName(), message(exception), stack(exception));
    }

    /** A line for each frame, {@code shop.Stock.count (Stock.java:14)}. */
    private static String stack(Throwable exception) {
        String text = "";
        try {
            StackTraceElement[] stack = exception.getStackTrace();
            for (int i = 0; i < stack.length && i < FRAMES; i++) {
                StackTraceElement frame = stack[i];
                String place = frame.getFileName() == null ? "" : frame.getFileName();
                if (frame.getLineNumber() > 0) place = place.concat(":").concat(Integer.toString(frame.getLineNumber()));
                text = text.concat(frame.getClassName()).concat(".").concat(frame.getMethodName()).concat(" (").concat(place).concat(")\n");
            }
        } catch (Throwable again) {
            return text;
        }
        return text;
    }

    /** The program's own code runs here: it may throw as well. */
    private static String message(Throwable exception) {
        try {
            return exception.getMessage();
        } catch (Throwable again) {
            return null;
        }
    }

    private static native long table(boolean units);

    /** The field of Thread with its number on JDK 8, else null. */
    private static native java.lang.reflect.Field number();

    private static native void arrive(Object object, Object key, int index, int site, long thread);

    private static native void complete(int site, long thread, boolean known, long value);

    private static native void writing(int site, long thread, long old, long value);

    private static native void entered(int unit, long thread);

    private static native void left(int unit, long thread, int kind, String text);

    private static native void died(Thread thread, String exception, String message, String stack);
}
