package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;

import java.lang.RavelLayout.Address;
import jdk.internal.misc.Unsafe;

/** Constants that need an initialised VM; touched only by threads that are recorded. */
final class RavelTables {
    private RavelTables() {}

    static final Unsafe U = Unsafe.getUnsafe();
    static final long SEQUENCE = Ravel.address(Address.SEQUENCE);
    static final long SITES = Ravel.address(Address.SITES);
    /** A word for each site: the index of its field's owner in the same table, found by the agent. */
    static final long STATICS = Ravel.address(Address.STATICS);
    static final long OWNERS = Ravel.address(Address.OWNERS);
    static final int FLAGS = (int) Ravel.address(Address.FLAGS);
    static final long BLOCKS = Ravel.address(Address.BLOCKS);
    static final long REGIONS = Ravel.address(Address.REGIONS);
    static final long VOLATILES = Ravel.address(Address.VOLATILES);
    static final long SAMPLES = Ravel.address(Address.SAMPLES);
    static final int SAMPLE = (int) Ravel.address(Address.SAMPLE);
    static final long INITIALIZATIONS = Ravel.address(Address.INITIALIZATIONS);
    /** A byte for each thread, by its number: 1 once it has ended. */
    static final long ENDS = Ravel.address(Address.ENDS);
    /** A word: 1 if the program asks locks for their state. */
    static final long LOCKS_ASKED = Ravel.address(Address.LOCKS_ASKED);
    /** A byte for each site, for the scheduler of a search. */
    static final long HINTS = Ravel.address(Address.HINTS);
    /** The offset of the word in the thread's block that moves whenever an access may say something new again: see RavelRepeats.sure. */
    static final long SAYS_NEW = (FLAGS & FOR_RACES) != 0 ? STRETCH : EPOCH;
    /** The release of this JVM: 8, 11, 17 and so on. */
    static final int RELEASE = (int) Ravel.address(Address.RELEASE);
    static final long SEED = fieldOffset(java.util.concurrent.atomic.AtomicLong.class, "value");
    static final long CLASS_WORD = (FLAGS & ATTACHED) != 0 ? 0 : fieldOffset(Class.class, "ravel$o");
    /** The objects without a word, by hash; also the lock of this table and of the next. */
    static final RavelObjects.Ref[] TABLE = new RavelObjects.Ref[1 << 16];
    /** The field that a handle or updater is for, by the handle's number; -1 if it is none that is known. */
    static int[] handles = new int[64];

    /** The offset of a field that the class itself declares; an InternalError if it declares none of this name. */
    static long fieldOffset(Class<?> type, String name) {
        if (RELEASE >= 11) return U.objectFieldOffset(type, name);
        java.lang.reflect.Field field = Ravel.field(type, name);
        if (field == null) throw new InternalError(name);
        return (field.getModifiers() & STATIC) != 0 ? U.staticFieldOffset(field) : U.objectFieldOffset(field);
    }

    /** As {@code java.lang.reflect.Modifier} has it. */
    private static final int STATIC = 8;
}
