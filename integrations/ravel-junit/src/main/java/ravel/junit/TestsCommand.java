package ravel.junit;

import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The command by which a build tool has Ravel run all tests of a project, and the meaning of its exit code: what the plugins share. */
public final class TestsCommand {
    /** What a build does with the result. */
    public enum Verdict {
        /** No bug is shown. */
        NOTHING_SHOWN,
        /** No test has more than one thread. */
        NOTHING_TO_CHECK,
        /** Bugs are shown, and the user does not want the build to fail. */
        WARN,
        /** The build fails because bugs are shown. */
        FAIL,
        /** The build fails because Ravel could not do its work. */
        BROKEN
    }

    private static final String NEVER = "never";

    private final String binary;
    private final File reports;
    private String budget = "300";
    private String failOn = "";
    private final List<String> options = new ArrayList<>();

    /**
     * A command of this program that writes its reports there.
     *
     * @param binary the program {@code ravel}, see {@link Binary#find(String)}
     * @param reports a directory
     */
    public TestsCommand(String binary, File reports) {
        this.binary = binary;
        this.reports = reports;
    }

    /**
     * How long the analysis and all forced runs may take.
     *
     * @param seconds the time
     */
    public void budget(String seconds) {
        budget = seconds;
    }

    /**
     * Which findings fail the build.
     *
     * @param evidence a level of evidence, {@code never}, or null or empty for what is shown
     */
    public void failOn(String evidence) {
        failOn = evidence == null ? "" : evidence;
    }

    /**
     * Adds options of the JVM that runs the tests.
     *
     * @param line options with blanks between them; null for none
     */
    public void jvmOptions(String line) {
        if (line == null) return;
        for (String word : line.trim().split("\\s+")) if (!word.isEmpty()) options.add(word);
    }

    /**
     * Sets a system property of the JVM that runs the tests.
     *
     * @param name its name
     * @param value its value; null or empty if it is not set
     */
    public void property(String name, String value) {
        if (value != null && !value.isEmpty()) options.add("-D" + name + "=" + value);
    }

    /**
     * The words of the command.
     *
     * @param classPath the class path of the tests, JUnit's launcher and this library among it
     * @param roots the directories of the test classes
     * @return the program and its arguments
     */
    public List<String> words(Collection<String> classPath, Collection<String> roots) {
        List<String> command = new ArrayList<>();
        command.add(binary);
        command.add("run");
        command.add("--budget");
        command.add(budget);
        if (!failOn.isEmpty() && !failOn.equals(NEVER)) {
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
        command.addAll(options);
        command.add("-cp");
        command.add(String.join(File.pathSeparator, classPath));
        command.add(RunTests.class.getName());
        command.add("--all");
        command.addAll(roots);
        return command;
    }

    /**
     * What an exit code of Ravel means for the build.
     *
     * @param code the exit code
     * @return what to do
     */
    public Verdict judge(int code) {
        switch (code) {
            case 0: return Verdict.NOTHING_SHOWN;
            case 1: return failOn.equals(NEVER) ? Verdict.WARN : Verdict.FAIL;
            case 3: return Verdict.NOTHING_TO_CHECK;
            default: return Verdict.BROKEN;
        }
    }
}
