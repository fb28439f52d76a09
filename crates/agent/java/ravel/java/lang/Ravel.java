package java.lang;

import static java.lang.RavelTables.*;

/**
 * The agent, as seen by the classes whose names begin with Ravel. Instrumented code calls their public methods, the hooks; each
 * class has the hooks of one subject.
 *
 * <p>Everything in these classes must be an intrinsic, a field or plain arithmetic on the way of a plain access: anything else would call
 * instrumented code again. Static initialisers must do nothing, since hooks run before the VM is initialised: constants that need
 * an initialised VM are in {@link RavelTables}.
 *
 * <p>Hooks end at the question whether there is anything to record, and the JIT inlines those that are hot; what follows is never
 * inlined. Hooks inlined everywhere would cost the JIT more time than the calls do.
 *
 * <p>The state of a thread is an off-heap block ({@code ThreadBlock} in Rust); its address is a field added to Thread. Address 0
 * means that the thread is not recorded, and then nothing but the hook itself may run: before the VM is initialised, Unsafe is
 * not usable. {@link RavelLayout}, which is generated, has the offsets and all other numbers that both languages use.
 *
 * <p>The JVM finds the native methods by name: they are symbols of the agent library, in natives.rs.
 */
final class Ravel {
    private Ravel() {}

    /** The address of a table, or an option, by its number in RavelLayout.Address. */
    static native long address(int which);

    // Memory of a thread. Each gives the address, or the number, to go on with.

    /** Hands a full buffer to the writer. */
    static native long flush(long thread);

    /** Enlarges the shadow stack. */
    static native long grow(long thread);

    /** Reserves ids of objects. */
    static native long ids(long thread);

    /** Makes the table of accesses that say nothing new. */
    static native long settled(long thread);

    /** Makes all threads look again at the arrays that they leave out. */
    static native void shake();

    // Objects and classes.

    /** A new number for an object that has no word. */
    static native int number(Class<?> type);

    /** The class of an object that has a word. */
    static native void name(long object, Class<?> type);

    /** The number that stands for a value in records, see RavelLayout.Told; the digest if the agent tells no values. */
    static native long told(long digest, int sort, long number, String text, Class<?> type);

    /** Tells the trace the words of a key. */
    static native void key(int key, int sort, long number, String text);

    /** Tells the trace the key that a map is given in the call that the thread is about to make at a site. */
    static native void given(long thread, int site, int sort, long number, String text);

    static native boolean hasWord(Class<?> type);

    /** Whether a class itself declares a field of this name. */
    static native boolean declares(Class<?> type, String name);

    /** A field that a class itself declares, also one that reflection does not show; null if there is none. */
    static native java.lang.reflect.Field field(Class<?> type, String name);

    /** The instance fields of a class from 0 on, its static fields from -1 down. */
    static native String fieldName(Class<?> type, int index);

    static native int fieldNumber(Class<?> type, int index);

    // Threads.

    /** See RavelThreads for what the child is to the thread. */
    static native void fork(long thread, Thread child, int sort);

    /** A thread of the JVM runs code of the program from now on. */
    static native void adopt(Thread current);

    static native void began(Thread thread);

    static native void ended(Thread thread);

    /** The stack is null if the program itself deals with the exception. */
    static native void died(Thread thread, Throwable exception, String stack);

    /** The thread asks for the end of the program, with an exit code that is not 0. */
    static native void exits(Thread thread, int status, String stack);

    static native void noise(long thread);

    // Tests.

    /** See RavelTests: 0 how one is run alone, 1 one begins, 2 one ends. */
    static native void test(Thread thread, int what, String id, String name);

    // Forced runs.

    /** Waits for the thread's turn. */
    static native void gate(long thread);

    /** Ends the thread's turn. */
    static native void next(long thread);

    static native void lock(Object lock);

    static native void unlock(Object lock);

    static native void want(long thread, long lock);

    static native void got(long thread, long lock);

    static native void give(long thread, long lock, boolean all);

    // Searches.

    /** Says what the thread is about to do and waits for its turn: see RavelLayout.Request and Answer. */
    static native int search(long thread, int request, long a, long b);

    /** The program cannot be run again inside this JVM. */
    static native void obstacle(String why);

    /** Whether there is another run inside this JVM; it begins. */
    static native boolean nextRun();

    /** The first thread of a run is about to start. */
    static native void root(Thread thread);

    /** Calls {@code main} of a class. */
    static native void main(Class<?> type, String[] args);

    /** Waits for the end of the run. Whether its threads have ended. */
    static native boolean endRun();

    /** The run is over; the number stands for what it printed. */
    static native void judgeRun(long output);

    // A JVM that was running before Ravel came.

    /** How often Ravel has come to this JVM while it ran, and whether it is there now. */
    static int generation;
    static boolean busy;

    /** The block of a thread that comes to a hook for the first time: 0 if it cannot be recorded yet, 1 if never. */
    static native long admit(Thread thread);

    /** A thread is about to be interrupted. */
    static native void interrupting(Thread thread);

    /** Gives the native methods of a class, which has another name than this one, their code. */
    private static native void bind(Class<?> type, long methods);

    /** The same, called as code of the JDK calls itself: the JVM warns of any other caller. */
    static void adopt(Class<?> type, long methods) {
        bind(type, methods);
    }

    // Chance and time.

    static native long chance(long thread, int kind);

    static native long clock(long thread, int form);

    static native void timed(long thread, long nanos, boolean exact);

    /**
     * Called once, before the first thread is recorded: the JVM looks native methods up in Java code, which would be
     * recorded and call them again.
     */
    static void prepare() {
        if (TABLE.length == 0) return;
        new RavelObjects.Ref(TABLE, 0, 0, null).isTo(null);
        flush(0);
        grow(0);
        ids(0);
        settled(0);
        shake();
        number(Object.class);
        name(0, Object.class);
        told(0L, 0, 0L, null, null);
        key(0, 0, 0L, null);
        given(0L, 0, 0, 0L, null);
        fork(0, null, 0);
        adopt(null);
        gate(0);
        next(0);
        lock(null);
        unlock(null);
        want(0, 0);
        got(0, 0);
        give(0, 0, false);
        noise(0);
        search(0L, 0, 0L, 0L);
        began(null);
        ended(null);
        died(null, null, null);
        chance(0L, 0);
        clock(0L, 0);
        timed(0L, 0L, true);
        hasWord(Object.class);
        fieldName(Object.class, 0);
        fieldNumber(Object.class, 0);
        field(Object.class, "");
        RavelObjects.offset(Object.class);
        admit(null);
        interrupting(null);
    }
}
