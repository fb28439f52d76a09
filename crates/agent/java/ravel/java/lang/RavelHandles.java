package java.lang;

import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Effect;
import java.lang.RavelLayout.Model;
import jdk.internal.vm.annotation.DontInline;

/** Finds the field that a VarHandle, an updater or an offset of Unsafe is for. */
final class RavelHandles {
    private RavelHandles() {}

    /** An access through a handle is an access to the field, if it is one of a class that was instrumented. */
    static int throughHandle(Object holder, Object handle, int model) {
        if (holder == null) return model;
        int number = RavelObjects.numbered(handle, System.identityHashCode(handle));
        int[] known = handles;
        int field = number < known.length ? known[number] : 0;
        if (field == 0) field = resolve(holder, handle, number);
        return field < 0 ? model : direct(model, field);
    }

    /** The model of an access to this field, instead of one to an entry. */
    static int direct(int model, int field) {
        int effect = model & Model.EFFECT;
        int direct = effect == Effect.MAP_GET ? Effect.GET : effect == Effect.MAP_REPLACE_IF ? Effect.COMPARE_AND_SET : Effect.UPDATE;
        return model & ~(Model.FIELDS << Model.FIELD | Model.EFFECT) | direct | field << Model.FIELD;
    }

    /** The fields that Unsafe has come to, by a hash of class and offset. An entry never changes; one may take the place of another. */
    private static final Known[] KNOWN = new Known[1024];

    private static final class Known {
        final Class<?> type;
        final long offset;
        final int field;

        Known(Class<?> type, long offset, int field) {
            this.type = type;
            this.offset = offset;
            this.field = field;
        }
    }

    /** The field at an offset of an object, or of a class; -1 if its class was not instrumented. */
    static int fieldAt(Object holder, long offset) {
        Class<?> type = holder instanceof Class ? (Class<?>) holder : holder.getClass();
        int slot = (System.identityHashCode(type) ^ (int) offset * 0x9E3779B1) >>> 8 & KNOWN.length - 1;
        Known known = KNOWN[slot];
        if (known == null || known.type != type || known.offset != offset) {
            int field = holder instanceof Class ? staticAt(type, offset) : instanceAt(type, offset);
            known = new Known(type, offset, field);
            KNOWN[slot] = known;
        }
        return known.field;
    }

    /** The index of the element at an offset of an array; -1 if there is none, or more than one. */
    static int elementAt(Object array, long offset) {
        int kind = kind(array);
        long base = BASES[kind];
        long scale = kind == REFERENCES ? REFERENCE_SIZE : 1L << kind;
        if (base < 0 || scale <= 0) return -1;
        long index = (offset - base) / scale;
        boolean exact = offset >= base && (offset - base) % scale == 0;
        return exact && index < java.lang.reflect.Array.getLength(array) ? (int) index : -1;
    }

    /** Arrays of references, among arrays by the logarithm of the size of their elements. */
    private static final int REFERENCES = 4;

    /** Where the elements of arrays begin, by kind. The methods of the JDK that tell it differ from release to release, so it is tried. */
    private static final long[] BASES = {
        tried(new byte[64], 0), tried(new short[64], 0), tried(new int[64], 0), tried(new long[64], 0), tried(new Object[64], 0)
    };
    private static final long REFERENCE_SIZE = tried(new Object[64], 1) - BASES[REFERENCES];

    private static int kind(Object array) {
        if (array instanceof byte[] || array instanceof boolean[]) return 0;
        if (array instanceof short[] || array instanceof char[]) return 1;
        if (array instanceof int[] || array instanceof float[]) return 2;
        return array instanceof Object[] ? REFERENCES : 3;
    }

    /** The offset of an element: where the array changes when the element does. -1 if it does not. */
    private static long tried(Object array, int index) {
        for (long offset = 8; offset < 64; offset += 4) {
            int before = U.getInt(array, offset);
            put(array, index, 1);
            boolean changed = U.getInt(array, offset) != before;
            put(array, index, 0);
            if (changed) return offset;
        }
        return -1;
    }

    private static void put(Object array, int index, int value) {
        switch (kind(array)) {
            case 0: ((byte[]) array)[index] = (byte) value; break;
            case 1: ((short[]) array)[index] = (short) value; break;
            case 2: ((int[]) array)[index] = value; break;
            case 3: ((long[]) array)[index] = value; break;
            default: ((Object[]) array)[index] = value == 0 ? null : array; break;
        }
    }

    private static int instanceAt(Class<?> type, long offset) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            for (int i = 0; ; i++) {
                String name = Ravel.fieldName(c, i);
                if (name == null) break;
                if (offsetIn(c, name) == offset) return Ravel.fieldNumber(c, i);
            }
        }
        return -1;
    }

    private static int staticAt(Class<?> type, long offset) {
        for (int i = -1; ; i--) {
            String name = Ravel.fieldName(type, i);
            if (name == null) return -1;
            if (offsetIn(type, name) == offset) return Ravel.fieldNumber(type, i);
        }
    }

    @DontInline
    private static int resolve(Object holder, Object handle, int number) {
        long offset = holder == handle ? -1 : handleOffset(handle);
        int found = holder == handle ? resolveStatic(handle) : offset < 0 ? -1 : instanceAt(holder.getClass(), offset);
        synchronized (TABLE) {
            if (number >= handles.length) {
                int[] more = new int[2 * number];
                for (int i = 0; i < handles.length; i++) more[i] = handles[i];
                handles = more;
            }
            handles[number] = found;
        }
        return found;
    }

    /** The static field that a handle without a holder is for. */
    private static int resolveStatic(Object handle) {
        Object base = referenceIn(handle, "base");
        if (base == null) {
            // One that initialises the class first has the real one inside.
            handle = referenceIn(handle, "target");
            if (handle != null) base = referenceIn(handle, "base");
        }
        if (!(base instanceof Class)) return -1;
        long offset = handleOffset(handle);
        return offset < 0 ? -1 : staticAt((Class<?>) base, offset);
    }

    /** Where the field of a handle lies: handles keep it in a field of their own. */
    private static long handleOffset(Object handle) {
        long at = offsetOf(handle, "fieldOffset");
        if (at < 0) at = offsetOf(handle, "offset");
        return at < 0 ? -1 : U.getLong(handle, at);
    }

    private static Object referenceIn(Object holder, String name) {
        long at = offsetOf(holder, name);
        return at < 0 ? null : reference(holder, at);
    }

    @SuppressWarnings("deprecation")
    private static Object reference(Object holder, long at) {
        return RELEASE < 12 ? U.getObject(holder, at) : U.getReference(holder, at);
    }

    private static long offsetOf(Object holder, String name) {
        long at = -1;
        for (Class<?> c = holder.getClass(); c != null && at < 0; c = c.getSuperclass()) at = offsetIn(c, name);
        return at;
    }

    /** Asks first: an exception that leaves a method, caught or not, makes the JVM forget the thread's scoped values. */
    private static long offsetIn(Class<?> type, String name) {
        return Ravel.declares(type, name) ? fieldOffset(type, name) : -1;
    }
}
