package ravel.gradle;

import org.gradle.api.Plugin;
import org.gradle.api.Project;

/** Adds the task {@code ravelTest} to a Java project. */
public final class RavelPlugin implements Plugin<Project> {
    /** The release of ravel-junit that belongs to this plugin. */
    static final String RELEASE = "0.1.0";

    /** Gradle creates it. */
    public RavelPlugin() {}

    @Override
    public void apply(Project project) {
        project.getPluginManager().apply("java");
        RavelTestTask task = project.getTasks().create("ravelTest", RavelTestTask.class);
        task.setGroup("verification");
        task.setDescription("Runs the tests under Ravel, which finds and proves their concurrency bugs.");
        task.dependsOn("testClasses");
    }
}
