package ravel.junit;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Lets Ravel prove the bugs of a {@link RavelTest}. In a JVM that Ravel itself started, the test is like any other. */
public final class RavelExtension implements InvocationInterceptor {
    /** JUnit creates it. */
    public RavelExtension() {}

    /** Seconds that Ravel may take beyond the budget, which does not count the recording. */
    private static final int MARGIN = 120;

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        invocation.proceed();
        if (Recorder.isThere() || RunTests.isAlone()) return;
        String binary = Binary.find();
        if (binary == null) {
            if (Boolean.getBoolean("ravel.required")) throw new AssertionError(Binary.NOT_FOUND);
            context.publishReportEntry("ravel", "not run: " + Binary.NOT_FOUND);
            return;
        }
        RavelTest asked = method.getExecutable().getAnnotation(RavelTest.class);
        prove(binary, context.getUniqueId(), asked == null ? 60 : asked.budget());
    }

    private static void prove(String binary, String id, int budget) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("ravel-junit");
        try {
            Path report = folder.resolve("report.txt");
            Path output = folder.resolve("output.txt");
            List<String> command = new ArrayList<>();
            command.add(binary);
            command.add("run");
            command.add("--budget");
            command.add(String.valueOf(budget));
            command.add("--out");
            command.add("text=" + report);
            command.add("-o");
            command.add(folder.resolve("trace.ravel").toString());
            command.add("--");
            command.addAll(TestJvm.commandOfOneTest());
            command.add(id);
            Process ravel = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .redirectInput(new File("/dev/null"))
                    .start();
            boolean ended = false;
            try {
                ended = ravel.waitFor(budget + MARGIN, TimeUnit.SECONDS);
            } finally {
                if (!ended) {
                    ravel.destroy();
                    if (!ravel.waitFor(5, TimeUnit.SECONDS)) ravel.destroyForcibly();
                }
            }
            if (!ended) throw new AssertionError("Ravel did not end within " + (budget + MARGIN) + " s");
            judge(ravel.exitValue(), text(report), text(output));
        } finally {
            remove(folder);
        }
    }

    /** Exit codes: 0 no bug shown, 1 a bug, 3 only one thread ran; all others mean that Ravel could not do its work. */
    private static void judge(int code, String report, String output) {
        if (code == 0 || code == 3) return;
        if (code == 1) throw new AssertionError("Ravel found a concurrency bug in this test:\n" + report);
        throw new AssertionError("Ravel ended with exit code " + code + ":\n" + output);
    }

    private static String text(Path file) throws IOException {
        return Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : "";
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) Files.deleteIfExists(file);
        }
        Files.deleteIfExists(folder);
    }
}
