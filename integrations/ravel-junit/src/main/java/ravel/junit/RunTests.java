package ravel.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs one test by its unique id, or all tests of directories: {@code java -cp … ravel.junit.RunTests ID} or {@code … --all DIRECTORY…}. */
public final class RunTests {
    private RunTests() {}

    private static volatile boolean alone;

    /** Whether this JVM was started to run tests for Ravel. */
    static boolean isAlone() {
        return alone;
    }

    /** Ends by the exception of a single test that fails, as a program does: what the threads did is then the failure of a thread. */
    public static void main(String[] arguments) throws Throwable {
        alone = true;
        if (arguments.length == 1 && !arguments[0].startsWith("--")) {
            one(arguments[0]);
        } else if (arguments.length >= 2 && arguments[0].equals("--all")) {
            all(arguments);
        } else {
            System.err.println("usage: java -cp CLASSPATH ravel.junit.RunTests UNIQUE-ID | --all DIRECTORY...");
            System.exit(2);
        }
    }

    private static void one(String id) throws Throwable {
        First first = new First();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectUniqueId(id))
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false")
                .build();
        LauncherFactory.create().execute(request, first);
        if (first.failure != null) throw first.failure;
        if (!first.ran) throw new IllegalArgumentException("no test has the id " + id);
    }

    private static void all(String[] arguments) {
        Set<Path> roots = new LinkedHashSet<>();
        for (int i = 1; i < arguments.length; i++) roots.add(new File(arguments[i]).toPath());
        List<? extends DiscoverySelector> selectors = selectClasspathRoots(roots);
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .filters(ClassNameFilter.includeClassNamePatterns(patterns()))
                .build();
        LauncherFactory.create().execute(request, summary);
        TestExecutionSummary told = summary.getSummary();
        System.out.println("tests: " + told.getTestsFoundCount() + ", failed: " + told.getTestsFailedCount());
        if (told.getTotalFailureCount() > 0) {
            told.printFailuresTo(new PrintWriter(System.out, true), 10);
            System.exit(1);
        }
    }

    /** The names of test classes that build tools take, or those of the property {@code ravel.tests}. */
    private static String[] patterns() {
        String asked = System.getProperty("ravel.tests", "");
        if (!asked.isEmpty()) return asked.split(",");
        return new String[] {"^(.*\\.)?Test[^.]*$", "^(.*\\.)?[^.]*Tests?$", "^(.*\\.)?[^.]*TestCase$"};
    }

    /** Keeps the first failure: of the test, or of what surrounds it. */
    private static final class First implements TestExecutionListener {
        Throwable failure;
        boolean ran;

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            ran |= test.isTest();
            if (failure == null && result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                failure = result.getThrowable().orElse(null);
            }
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            ran = true;
        }
    }
}
