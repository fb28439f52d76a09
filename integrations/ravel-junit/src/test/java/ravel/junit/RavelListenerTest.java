package ravel.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.util.List;
import org.junit.jupiter.api.Test;

class RavelListenerTest {
    private static final String ID = "[engine:junit-jupiter]/[class:ravel.junit.RavelListenerTest$Inner]/[method:%s()]";

    @Test
    void withoutRavelNothingHappens() {
        assertFalse(Recorder.isThere());
        Recorder.begin("id", "name");
        Recorder.end("id");
    }

    @Test
    void theCommandRunsOneTest() {
        List<String> command = TestJvm.commandOfOneTest();
        assertTrue(new File(command.get(0)).canExecute(), command.get(0));
        assertEquals("ravel.junit.RunTests", command.get(command.size() - 1));
        assertTrue(command.get(command.size() - 2).contains("junit-platform-launcher"), command.toString());
        assertFalse(command.toString().contains("surefirebooter"), command.toString());
    }

    @Test
    void aTestThatFailsEndsTheRunByItsException() throws Throwable {
        RunTests.main(new String[] {String.format(ID, "passes")});
        IllegalStateException failure = assertThrows(
                IllegalStateException.class, () -> RunTests.main(new String[] {String.format(ID, "fails")}));
        assertEquals("asked for", failure.getMessage());
        assertThrows(RuntimeException.class, () -> RunTests.main(new String[] {String.format(ID, "isNotThere")}));
    }

    static class Inner {
        @Test
        void passes() {}

        @Test
        void fails() {
            if (RunTests.isAlone() && Boolean.parseBoolean(System.getProperty("ravel.test.fails", "true"))) {
                throw new IllegalStateException("asked for");
            }
        }
    }
}
