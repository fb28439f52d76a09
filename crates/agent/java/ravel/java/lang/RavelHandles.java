package java.lang;

import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Effect;
import java.lang.RavelLayout.Model;
import jdk.internal.vm.annotation.DontInline;

/** Finds the field that a VarHandle or an updater is for. */
final class RavelHandles {
    private RavelHandles() {}

    /** An access through a handle is an access to the field, if it is one of a class that was instrumented. */
    static int throughHandle(Object holder, Object handle, int model) {
        if (holder == null) return model;
        int number = RavelObjects.numbered(handle, System.identityHashCode(handle));
        int field = number < handles.length ? handles[number] : 0;
        if (field == 0) field = resolve(holder, handle, number);
        if (field < 0) return model;
        int effect = model & Model.EFFECT;
        int direct = effect == Effect.MAP_GET ? Effect.GET : effect == Effect.MAP_REPLACE_IF ? Effect.COMPARE_AND_SET : Effect.UPDATE;
        return model & ~(Model.FIELDS << Model.FIELD | Model.EFFECT) | direct | field << Model.FIELD;
    }

    @DontInline
    private static int resolve(Object holder, Object handle, int number) {
        int found = holder == handle ? resolveStatic(handle) : -1;
        long offset = holder == handle ? -1 : handleOffset(handle);
        for (Class<?> c = holder.getClass(); c != null && found < 0 && offset >= 0; c = c.getSuperclass()) {
            for (int i = 0; found < 0; i++) {
                String name = Ravel.fieldName(c, i);
                if (name == null) break;
                if (offsetIn(c, name) == offset) found = Ravel.fieldNumber(c, i);
            }
        }
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
        for (int i = -1; offset >= 0; i--) {
            String name = Ravel.fieldName((Class<?>) base, i);
            if (name == null) break;
            if (offsetIn((Class<?>) base, name) == offset) return Ravel.fieldNumber((Class<?>) base, i);
        }
        return -1;
    }

    /** Where the field of a handle lies: handles keep it in a field of their own. */
    private static long handleOffset(Object handle) {
        long at = offsetOf(handle, "fieldOffset");
        if (at < 0) at = offsetOf(handle, "offset");
        return at < 0 ? -1 : U.getLong(handle, at);
    }

    private static Object referenceIn(Object holder, String name) {
        long at = offsetOf(holder, name);
        return at < 0 ? null : U.getReference(holder, at);
    }

    private static long offsetOf(Object holder, String name) {
        long at = -1;
        for (Class<?> c = holder.getClass(); c != null && at < 0; c = c.getSuperclass()) at = offsetIn(c, name);
        return at;
    }

    /** Asks first: an exception that leaves a method, caught or not, makes the JVM forget the thread's scoped values. */
    private static long offsetIn(Class<?> type, String name) {
        return Ravel.declares(type, name) ? U.objectFieldOffset(type, name) : -1;
    }
}
