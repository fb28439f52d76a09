package java.lang;

import static java.lang.RavelLayout.TestNote.*;

/**
 * What a test runner tells of its tests. Nothing of Ravel calls this class: the library {@code ravel-junit} looks for it by name, so that
 * tests run the same in a JVM without the agent.
 */
public final class RavelTests {
    private RavelTests() {}

    /** The directory and the words of the command that runs one test alone, a line each; the test's id is added to them. */
    public static void runOneBy(String lines) {
        Ravel.test(Thread.currentThread(), RUN_ONE_BY, lines, null);
    }

    /** The test begins, and the thread that calls runs it. */
    public static void begin(String id, String name) {
        Ravel.test(Thread.currentThread(), BEGIN, id, name);
    }

    /** The test has ended. */
    public static void end(String id) {
        Ravel.test(Thread.currentThread(), END, id, null);
    }
}
