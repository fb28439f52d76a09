package java.lang;

import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Told;

/**
 * Values in words, for the report of a forced run: strings, boxed numbers, constants of enums, and which object of which class it is. No
 * code of the program runs here, nor code of the JDK that is recorded: the agent makes the words.
 */
final class RavelWords {
    private RavelWords() {}

    /** Longer strings are not told. */
    private static final int LONGEST = 1 << 12;

    /** What stands for a value in a record: a number by which the agent finds the words, and the digest. */
    static long told(Object v, long digest) {
        Class<?> type = v.getClass();
        if (type == String.class && ((String) v).length() <= LONGEST) return Ravel.told(digest, Told.STRING, 0, (String) v, null);
        if (type == Integer.class || type == Long.class || type == Short.class || type == Byte.class) {
            return Ravel.told(digest, Told.INTEGRAL, ((Number) v).longValue(), null, null);
        }
        if (type == Boolean.class) return Ravel.told(digest, Told.BOOLEAN, (Boolean) v ? 1 : 0, null, null);
        if (type == Character.class) return Ravel.told(digest, Told.CHARACTER, (Character) v, null, null);
        if (type == Double.class) return Ravel.told(digest, Told.DOUBLE, Double.doubleToRawLongBits((Double) v), null, null);
        if (type == Float.class) return Ravel.told(digest, Told.FLOAT, Float.floatToRawIntBits((Float) v), null, null);
        if (v instanceof Enum) return Ravel.told(digest, Told.NAME, 0, ((Enum<?>) v).name(), null);
        return Ravel.told(digest, Told.OBJECT, number(v, type), null, type);
    }

    /** The number that an object has already: to give it one would change how the run goes on. */
    private static long number(Object v, Class<?> type) {
        int offset = U.getInt(type, CLASS_WORD);
        if (offset == 0) offset = RavelObjects.offset(type);
        return offset > 0 ? RavelObjects.id(U.getLong(v, (long) offset)) : 0;
    }

    /** Tells a key of a map. */
    static void key(Object key, long number) {
        Class<?> type = key.getClass();
        if (type == String.class && ((String) key).length() <= LONGEST) Ravel.key((int) number, Told.STRING, 0, (String) key);
        else if (type == Integer.class || type == Long.class) Ravel.key((int) number, Told.INTEGRAL, ((Number) key).longValue(), null);
        else if (key instanceof Enum) Ravel.key((int) number, Told.NAME, 0, ((Enum<?>) key).name());
    }

    /** Tells the key that a map is given in a call; one of another class has no words, so that the key of an earlier call is not taken for it. */
    static void given(long t, int site, Object key) {
        Class<?> type = key == null ? null : key.getClass();
        if (type == String.class && ((String) key).length() <= LONGEST) Ravel.given(t, site, Told.STRING, 0, (String) key);
        else if (type == Integer.class || type == Long.class) Ravel.given(t, site, Told.INTEGRAL, ((Number) key).longValue(), null);
        else if (key instanceof Enum) Ravel.given(t, site, Told.NAME, 0, ((Enum<?>) key).name());
        else Ravel.given(t, site, Told.NAME, 0, "");
    }
}
