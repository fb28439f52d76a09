package ravel.junit;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.engine.TestEngine;
import org.junit.platform.launcher.Launcher;

/** How this JVM would be started to run one of its tests alone, without the build tool that started it. */
final class TestJvm {
    private TestJvm() {}

    /** System properties of the JVM itself and of the test runner: a new JVM sets its own. */
    private static final String[] NOT_PASSED = {
        "java.", "javax.accessibility", "sun.", "jdk.", "os.", "user.", "file.", "path.", "line.", "native.", "awt.", "stdout.", "stderr.", "stdin.",
        "surefire.", "localRepository", "basedir.", "org.gradle.", "worker.org.gradle."
    };

    static String directory() {
        return new File("").getAbsolutePath();
    }

    /** The command, to which the test's unique id is added. */
    static List<String> commandOfOneTest() {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(options());
        command.add("-cp");
        command.add(String.join(File.pathSeparator, classPath()));
        command.add(RunTests.class.getName());
        return command;
    }

    /** The options that this JVM was started with, and the properties that were set since. */
    private static List<String> options() {
        List<String> options = new ArrayList<>();
        Set<String> said = new TreeSet<>();
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            // Ravel adds its own agent; what the environment says is in the environment again.
            boolean ofRavel = option.startsWith("-agentpath:") && option.contains("ravel-agent-");
            if (ofRavel || fromEnvironment(option) || isOfBuildTool(option)) continue;
            options.add(option);
            if (option.startsWith("-D")) said.add(option.substring(2).split("=", 2)[0]);
        }
        for (String name : new TreeSet<>(System.getProperties().stringPropertyNames())) {
            String value = System.getProperty(name);
            if (said.contains(name) || isNotPassed(name) || value == null || value.indexOf('\n') >= 0) continue;
            options.add("-D" + name + "=" + value);
        }
        return options;
    }

    private static boolean fromEnvironment(String option) {
        for (String variable : new String[] {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}) {
            String value = System.getenv(variable);
            if (value != null && (" " + value + " ").contains(" " + option + " ")) return true;
        }
        return false;
    }

    /** Gradle's workers have options that only their own main class can use. */
    private static boolean isOfBuildTool(String option) {
        return option.startsWith("-Dorg.gradle.") || option.startsWith("-javaagent:") && option.contains("gradle");
    }

    private static boolean isNotPassed(String name) {
        for (String prefix : NOT_PASSED) if (name.startsWith(prefix)) return true;
        return false;
    }

    /** The class path of the tests, with the jars of JUnit that a build tool keeps apart from it. */
    private static List<String> classPath() {
        Set<String> path = new LinkedHashSet<>();
        for (String property : new String[] {"surefire.test.class.path", "java.class.path"}) {
            String value = System.getProperty(property);
            if (value == null) continue;
            for (String entry : value.split(File.pathSeparator)) {
                if (!entry.isEmpty() && !isBooter(entry)) path.add(new File(entry).getAbsolutePath());
            }
        }
        for (Class<?> type : new Class<?>[] {RunTests.class, Launcher.class, TestEngine.class, Testable.class}) {
            CodeSource source = type.getProtectionDomain().getCodeSource();
            try {
                if (source != null && source.getLocation() != null) path.add(new File(source.getLocation().toURI()).getAbsolutePath());
            } catch (URISyntaxException | IllegalArgumentException elsewhere) {
                // Not a file: then the class path has it, or the run alone fails and says so.
            }
        }
        return new ArrayList<>(path);
    }

    /** A jar that surefire makes for one run and removes. */
    private static boolean isBooter(String entry) {
        return new File(entry).getName().startsWith("surefirebooter");
    }
}
