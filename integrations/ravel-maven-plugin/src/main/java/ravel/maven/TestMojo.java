package ravel.maven;

import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Execute;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import ravel.junit.Binary;
import ravel.junit.TestsCommand;
import ravel.junit.TestsCommand.Verdict;

/**
 * Runs the JUnit tests of the project once under Ravel, forces other orders of the threads of each test, writes reports to
 * {@code target/ravel}, and fails the build if a bug is shown.
 */
@Mojo(name = "test", requiresDependencyResolution = ResolutionScope.TEST, threadSafe = true)
@Execute(phase = LifecyclePhase.TEST_COMPILE)
public final class TestMojo extends AbstractMojo {
    /** Maven creates it. */
    public TestMojo() {}

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    private MavenProject project;

    @Parameter(defaultValue = "${session}", readonly = true, required = true)
    private MavenSession session;

    @Component
    private RepositorySystem repositories;

    /** The program {@code ravel}; looked for on the PATH if it is not named. */
    @Parameter(property = "ravel.binary")
    private String binary;

    /** Seconds for the analysis and all forced runs. */
    @Parameter(property = "ravel.budget", defaultValue = "300")
    private int budget;

    /** Which findings fail the build: {@code suspected}, {@code predicted}, {@code witnessed}, {@code confirmed}, {@code harmful} or {@code never}. */
    @Parameter(property = "ravel.failOn")
    private String failOn;

    /** Options of the JVM that runs the tests. */
    @Parameter(property = "ravel.argLine")
    private String argLine;

    /** Regular expressions of the names of test classes, joined by commas. */
    @Parameter(property = "ravel.tests")
    private String tests;

    /** Where reports go. */
    @Parameter(property = "ravel.reports", defaultValue = "${project.build.directory}/ravel")
    private File reports;

    /** Whether nothing is done. */
    @Parameter(property = "ravel.skip", defaultValue = "false")
    private boolean skip;

    /** The release of the library ravel-junit: the plugin's own. */
    @Parameter(defaultValue = "${plugin.version}", readonly = true, required = true)
    private String release;

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        File classes = new File(project.getBuild().getTestOutputDirectory());
        if (skip || !classes.isDirectory()) {
            getLog().info(skip ? "ravel: skipped" : "ravel: no tests");
            return;
        }
        if (!reports.isDirectory() && !reports.mkdirs()) throw new MojoExecutionException("cannot create " + reports);
        TestsCommand command = new TestsCommand(find(), reports);
        command.budget(String.valueOf(budget));
        command.failOn(failOn);
        command.jvmOptions(argLine);
        command.property("basedir", project.getBasedir().toString());
        command.property("ravel.tests", tests);
        judge(command.judge(run(command.words(classPath(), Collections.singletonList(classes.toString())))));
    }

    private void judge(Verdict verdict) throws MojoExecutionException, MojoFailureException {
        switch (verdict) {
            case NOTHING_SHOWN:
                getLog().info("ravel: no bug shown; reports in " + reports);
                return;
            case NOTHING_TO_CHECK:
                getLog().info("ravel: nothing to check: no test has more than one thread");
                return;
            case WARN:
                getLog().warn("Ravel shows concurrency bugs; reports in " + reports);
                return;
            case FAIL:
                throw new MojoFailureException("Ravel shows concurrency bugs; reports in " + reports);
            default:
                throw new MojoExecutionException("ravel could not do its work; its message is above");
        }
    }

    private int run(List<String> command) throws MojoExecutionException {
        getLog().debug(String.join(" ", command));
        Process process = null;
        try {
            process = new ProcessBuilder(command).directory(project.getBasedir()).inheritIO().start();
            return process.waitFor();
        } catch (IOException problem) {
            throw new MojoExecutionException("cannot start " + command.get(0) + ": " + problem.getMessage(), problem);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", stopped);
        } finally {
            if (process != null && process.isAlive()) process.destroy();
        }
    }

    private String find() throws MojoExecutionException {
        try {
            return Binary.find(binary);
        } catch (IllegalStateException missing) {
            throw new MojoExecutionException(missing.getMessage(), missing);
        }
    }

    /** The test class path, with JUnit's launcher in the release of the project's own JUnit, and ravel-junit. */
    private Set<String> classPath() throws MojoExecutionException {
        Set<String> path = new LinkedHashSet<>();
        try {
            path.addAll(project.getTestClasspathElements());
        } catch (org.apache.maven.artifact.DependencyResolutionRequiredException problem) {
            throw new MojoExecutionException("the test class path: " + problem.getMessage(), problem);
        }
        String platform = null;
        Set<String> there = new LinkedHashSet<>();
        for (Artifact artifact : project.getArtifacts()) {
            there.add(artifact.getArtifactId());
            if (artifact.getArtifactId().equals("junit-platform-commons")) platform = artifact.getVersion();
        }
        if (platform == null) {
            throw new MojoExecutionException("the project has no JUnit 5 (junit-platform-commons) among its test dependencies");
        }
        if (!there.contains("junit-platform-launcher")) path.add(resolve("org.junit.platform", "junit-platform-launcher", platform));
        if (!there.contains("junit-platform-engine")) path.add(resolve("org.junit.platform", "junit-platform-engine", platform));
        if (there.contains("junit-jupiter-api") && !there.contains("junit-jupiter-engine")) {
            path.add(resolve("org.junit.jupiter", "junit-jupiter-engine", "5" + platform.substring(1)));
        }
        if (!there.contains("ravel-junit")) path.add(resolve("io.github.ravel", "ravel-junit", release));
        return path;
    }

    private String resolve(String group, String artifact, String version) throws MojoExecutionException {
        ArtifactRequest request = new ArtifactRequest(
                new DefaultArtifact(group, artifact, "jar", version), project.getRemoteProjectRepositories(), null);
        try {
            return repositories.resolveArtifact(session.getRepositorySession(), request).getArtifact().getFile().toString();
        } catch (ArtifactResolutionException problem) {
            throw new MojoExecutionException(group + ":" + artifact + ":" + version + ": " + problem.getMessage(), problem);
        }
    }
}
