package ravel.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.artifacts.Dependency;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.TaskAction;
import ravel.junit.Binary;
import ravel.junit.TestsCommand;
import ravel.junit.TestsCommand.Verdict;

/**
 * Runs the JUnit tests of the project once under Ravel, forces other orders of the threads of each test, and writes reports to
 * {@code build/ravel}. Properties of the project: {@code ravel.binary}, {@code ravel.budget}, {@code ravel.failOn}, {@code ravel.argLine},
 * {@code ravel.tests}.
 */
public class RavelTestTask extends DefaultTask {
    private static final Pattern COMMONS = Pattern.compile("junit-platform-commons-(.*)\\.jar");

    /** Runs the tests. */
    @TaskAction
    public void prove() throws Exception {
        SourceSetContainer sources = (SourceSetContainer) getProject().property("sourceSets");
        SourceSet tests = sources.getByName("test");
        List<String> roots = new ArrayList<>();
        for (File root : tests.getOutput().getClassesDirs()) if (root.isDirectory()) roots.add(root.toString());
        if (roots.isEmpty()) {
            getLogger().lifecycle("ravel: no tests");
            return;
        }
        File reports = new File(getProject().getBuildDir(), "ravel");
        if (!reports.isDirectory() && !reports.mkdirs()) throw new GradleException("cannot create " + reports);
        TestsCommand command = new TestsCommand(binary(), reports);
        command.budget(property("ravel.budget", "300"));
        command.failOn(property("ravel.failOn", ""));
        command.jvmOptions(property("ravel.argLine", ""));
        command.property("ravel.tests", property("ravel.tests", ""));
        judge(command.judge(run(command.words(classPath(tests), roots), reports)), reports);
    }

    /** Output goes to a file and then to Gradle's log: a process of the Gradle daemon has no terminal. */
    private int run(List<String> command, File reports) throws Exception {
        File log = new File(reports, "ravel.log");
        Process process = new ProcessBuilder(command)
                .directory(getProject().getProjectDir())
                .redirectErrorStream(true)
                .redirectOutput(log)
                .redirectInput(new File("/dev/null"))
                .start();
        try {
            int code = process.waitFor();
            String text = new String(java.nio.file.Files.readAllBytes(log.toPath()), java.nio.charset.StandardCharsets.UTF_8);
            getLogger().quiet(text);
            return code;
        } finally {
            if (process.isAlive()) process.destroy();
        }
    }

    private void judge(Verdict verdict, File reports) {
        switch (verdict) {
            case NOTHING_SHOWN:
            case NOTHING_TO_CHECK:
                return;
            case WARN:
                getLogger().warn("Ravel shows concurrency bugs; reports in " + reports);
                return;
            case FAIL:
                throw new GradleException("Ravel shows concurrency bugs; reports in " + reports);
            default:
                throw new GradleException("ravel could not do its work; its message is above");
        }
    }

    private String property(String name, String otherwise) {
        Object value = getProject().findProperty(name);
        return value == null ? otherwise : value.toString();
    }

    private String binary() {
        try {
            return Binary.find(property("ravel.binary", ""));
        } catch (IllegalStateException missing) {
            throw new GradleException(missing.getMessage(), missing);
        }
    }

    /** The test class path, with JUnit's launcher in the release of the project's own JUnit, and ravel-junit. */
    private Set<String> classPath(SourceSet tests) {
        Set<String> path = new LinkedHashSet<>();
        String platform = null;
        boolean launcher = false;
        boolean library = false;
        for (File file : tests.getRuntimeClasspath()) {
            path.add(file.toString());
            Matcher commons = COMMONS.matcher(file.getName());
            if (commons.matches()) platform = commons.group(1);
            launcher |= file.getName().startsWith("junit-platform-launcher-");
            library |= file.getName().startsWith("ravel-junit-");
        }
        if (platform == null) throw new GradleException("the tests have no JUnit 5 (junit-platform-commons) on their class path");
        List<Dependency> missing = new ArrayList<>();
        if (!launcher) missing.add(getProject().getDependencies().create("org.junit.platform:junit-platform-launcher:" + platform));
        if (!library) missing.add(getProject().getDependencies().create("io.github.ravel:ravel-junit:" + RavelPlugin.RELEASE));
        Dependency[] wanted = missing.toArray(new Dependency[0]);
        for (File file : getProject().getConfigurations().detachedConfiguration(wanted)) path.add(file.toString());
        return path;
    }
}
