package ravel.junit;

import java.util.Optional;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Tells Ravel where each test begins and ends. JUnit finds it by itself; in a JVM without Ravel it does nothing. */
public final class RavelListener implements TestExecutionListener {
    /** JUnit creates it. */
    public RavelListener() {}

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if (Recorder.isThere()) Recorder.runOneBy(TestJvm.directory(), TestJvm.commandOfOneTest());
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) Recorder.begin(test.getUniqueId(), name(test));
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) Recorder.end(test.getUniqueId());
    }

    /** {@code shop.ShopTest.twoCustomers}, with the words of an invocation if a method has several. */
    static String name(TestIdentifier test) {
        Optional<TestSource> source = test.getSource();
        if (!source.isPresent() || !(source.get() instanceof MethodSource)) return test.getDisplayName();
        MethodSource method = (MethodSource) source.get();
        String name = method.getClassName() + "." + method.getMethodName();
        return test.getUniqueId().contains("-invocation:") ? name + " " + test.getDisplayName() : name;
    }
}
