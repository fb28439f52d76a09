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
    /** A byte for each site, for the scheduler of a search. */
    static final long HINTS = Ravel.address(Address.HINTS);
    /** The offset of the word in the thread's block that moves whenever an access may say something new again: see RavelRepeats.sure. */
    static final long SAYS_NEW = (FLAGS & FOR_RACES) != 0 ? STRETCH : EPOCH;
    static final long SEED = U.objectFieldOffset(java.util.concurrent.atomic.AtomicLong.class, "value");
    static final long CLASS_WORD = U.objectFieldOffset(Class.class, "ravel$o");
    /** The objects without a word, by hash; also the lock of this table and of the next. */
    static final RavelObjects.Ref[] TABLE = new RavelObjects.Ref[1 << 16];
    /** The field that a handle or updater is for, by the handle's number; -1 if it is none that is known. */
    static int[] handles = new int[64];
}
