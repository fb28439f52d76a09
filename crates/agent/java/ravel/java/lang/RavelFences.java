package java.lang;

import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import jdk.internal.vm.annotation.ForceInline;

/**
 * Which stores of a thread the others see, and in which order: the whole argument, for processors that reorder.
 *
 * <p>The methods of this class do nothing on x86-64, where FENCES is not set: the JIT removes them. There the processor shows the
 * stores of a thread in their order, loads in their order, and the JIT keeps stores to raw memory in order, since all of them are
 * one memory to it. ARM does neither. What one thread leaves for another is this:
 *
 * <ul>
 * <li><b>The global counter</b> moves by atomic additions alone, which are volatile accesses. A thread that has seen what another did
 * after its number has a larger one: numbers of one memory cell cannot go against the order of causes. That needs two
 * things of a write whose number is taken before it: no thread sees the write and not the number ({@link #stores} after taking it,
 * where the write itself may be plain), and no reader looks at the counter before it reads ({@link #loads} after reads that
 * may be plain; volatile and atomic reads acquire by themselves, and so do locks).
 * <li><b>The numbers of volatile writes</b> ({@code VOLATILES}) are stored by release, before the write and after the counter moved. A
 * reader that leaves a read out has a recorded read that comes after the same number: it loads the number by acquire before it loads the
 * counter.
 * <li><b>Records and the cursor.</b> When the recording ends, the collector reads a buffer that its thread still fills, up to the
 * cursor: {@link #stores} between a record and the cursor that covers it, and an acquiring load on the other side (buffers.rs).
 * The thread alone reads and writes all the rest of its buffer, and hands it over under {@code Hand} (handover.rs).
 * <li><b>The word of an object</b> changes by compare-and-set, except at first, in the constructor. A thread that gets the object by a
 * race must not find it without a word: it would give it a second one, which the first would then overwrite. So inserted code calls
 * {@link RavelObjects#shown} after the first store. Other threads may see an older word. Each older word lets a thread leave out
 * what it does before it has seen the other thread, and what it does after has seen the word too: the other thread changed the
 * word before its own access, and a lock or a volatile field that orders the two shows both.
 * <li><b>The owners of arrays</b> ({@code OWNERS}, {@code REGIONS}) change by compare-and-set, except at first, in {@code made}, which
 * needs the same fence. A thread that takes an array away moves STALE and SHAKEN of the owner afterwards, atomically. The owner
 * loads these before it loads what they stand for, by acquire, and keeps both together: so it never keeps an old
 * owner under a new count. It never writes them itself, or its own store could hide another thread's.
 * <li><b>The owners of static fields</b> change by compare-and-set, but for the mark that they are shared, which is final.
 * <li><b>Tables about sites</b> (SITES, STATICS, HINTS) are written while a class is loaded, before code can run that has these sites or
 * that reaches that field. The JVM orders the loading of a class before its use.
 * <li><b>The class whose initialiser has run</b> ({@code INITIALIZATIONS}) is seen as the class's static fields are, by the same order.
 * <li><b>The end of a thread</b> ({@code ENDS}) is stored by release after the number of its last record, and loaded by volatile reads.
 * <li><b>Blocks</b> are published before the thread starts. A table has their addresses (BLOCKS): it is read at an index that was loaded
 * from what that thread has stored.
 * <li><b>The tables on the heap</b> (numbers of objects, handles, permits) are changed under locks; what is read without the lock is
 * objects of final fields, and one that is not seen yet is looked for again under the lock.
 * <li>In forced runs, searches and directed runs, threads take turns under locks of the agent.
 * </ul>
 */
final class RavelFences {
    private RavelFences() {}

    /** No thread that sees a later store misses an earlier one. */
    @ForceInline
    static void stores() {
        if ((FLAGS & FENCES) != 0) U.storeFence();
    }

    /** No later load is older than an earlier one. */
    @ForceInline
    static void loads() {
        if ((FLAGS & FENCES) != 0) U.loadFence();
    }
}
