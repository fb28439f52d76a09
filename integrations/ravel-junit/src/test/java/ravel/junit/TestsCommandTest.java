package ravel.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestsCommandTest {
    private static List<String> words(TestsCommand command) {
        return command.words(Arrays.asList("a.jar", "b"), Collections.singletonList("classes"));
    }

    @Test
    void theTestsRunInAJvmOfTheirOwn() {
        TestsCommand command = new TestsCommand("/bin/ravel", new File("out"));
        command.jvmOptions("  -Xmx1g\n-ea ");
        command.property("ravel.tests", ".*Stock");
        command.property("basedir", "");
        List<String> words = words(command);
        assertEquals(Arrays.asList("/bin/ravel", "run", "--budget", "300"), words.subList(0, 4));
        int program = words.indexOf("--") + 2;
        assertEquals(
                Arrays.asList("-Xmx1g", "-ea", "-Dravel.tests=.*Stock", "-cp", "a.jar" + File.pathSeparator + "b", "ravel.junit.RunTests", "--all", "classes"),
                words.subList(program, words.size()));
    }

    @Test
    void neverIsForTheBuildAndNotForRavel() {
        TestsCommand command = new TestsCommand("/bin/ravel", new File("out"));
        command.failOn("never");
        assertFalse(words(command).contains("--fail-on"));
        assertEquals(TestsCommand.Verdict.WARN, command.judge(1));
        command.failOn("harmful");
        assertTrue(words(command).contains("harmful"));
        assertEquals(TestsCommand.Verdict.FAIL, command.judge(1));
        assertEquals(TestsCommand.Verdict.BROKEN, command.judge(2));
    }

    @Test
    void aProgramThatIsNoneIsNamed() {
        IllegalStateException refused = assertThrows(IllegalStateException.class, () -> Binary.find("/no/such/ravel"));
        assertTrue(refused.getMessage().contains("/no/such/ravel"));
    }
}
