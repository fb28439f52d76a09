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
        String failOn = property("ravel.failOn", "");
        List<String> command = new ArrayList<>();
        command.add(binary());
        command.add("run");
        command.add("--budget");
        command.add(property("ravel.budget", "300"));
        if (!failOn.isEmpty() && !failOn.equals("never")) {
            command.add("--fail-on");
            command.add(failOn);
        }
        for (String report : new String[] {"json=findings.json", "html=report.html", "sarif=report.sarif", "junit=TEST-ravel.xml"}) {
            String[] parts = report.split("=");
            command.add("--out");
            command.add(parts[0] + "=" + new File(reports, parts[1]));
        }
        command.add("-o");
        command.add(new File(reports, "tests.ravel").toString());
        command.add("--");
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        for (String word : property("ravel.argLine", "").trim().split("\\s+")) if (!word.isEmpty()) command.add(word);
        String named = property("ravel.tests", "");
        if (!named.isEmpty()) command.add("-Dravel.tests=" + named);
        command.add("-cp");
        command.add(String.join(File.pathSeparator, classPath(tests)));
        command.add("ravel.junit.RunTests");
        command.add("--all");
        command.addAll(roots);
        judge(run(command, reports), failOn, reports);
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

    private void judge(int code, String failOn, File reports) {
        if (code == 0 || code == 3) return;
        if (code == 1 && failOn.equals("never")) {
            getLogger().warn("Ravel shows concurrency bugs; reports in " + reports);
        } else if (code == 1) {
            throw new GradleException("Ravel shows concurrency bugs; reports in " + reports);
        } else {
            throw new GradleException("ravel ended with exit code " + code);
        }
    }

    private String property(String name, String otherwise) {
        Object value = getProject().findProperty(name);
        return value == null ? otherwise : value.toString();
    }

    private String binary() {
        String named = property("ravel.binary", "");
        if (!named.isEmpty()) {
            if (new File(named).canExecute()) return new File(named).getAbsolutePath();
            throw new GradleException("ravel.binary: " + named + " is not a program");
        }
        for (String directory : String.valueOf(System.getenv("PATH")).split(File.pathSeparator)) {
            File file = new File(directory, "ravel");
            if (file.isFile() && file.canExecute()) return file.getAbsolutePath();
        }
        throw new GradleException("the program `ravel` is not on the PATH; install it, or name it with -Pravel.binary=FILE");
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
