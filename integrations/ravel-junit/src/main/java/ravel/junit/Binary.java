package ravel.junit;

import java.io.File;

/** Finds the program {@code ravel}: by its name, the property {@code ravel.binary}, the variable {@code RAVEL_BINARY}, then the {@code PATH}. */
public final class Binary {
    private Binary() {}

    static final String NOT_FOUND = "the program `ravel` is not on the PATH; install it, or name it with the property ravel.binary";

    /** Its path; null if there is none. */
    static String find() {
        for (String named : new String[] {System.getProperty("ravel.binary"), System.getenv("RAVEL_BINARY")}) {
            if (named != null && !named.isEmpty()) return new File(named).canExecute() ? new File(named).getAbsolutePath() : null;
        }
        String path = System.getenv("PATH");
        if (path == null) return null;
        for (String directory : path.split(File.pathSeparator)) {
            File file = new File(directory, "ravel");
            if (file.isFile() && file.canExecute()) return file.getAbsolutePath();
        }
        return null;
    }

    /**
     * The path of the program that a build names, or of the one that is found.
     *
     * @param named what the build says; null or empty if it says nothing
     * @throws IllegalStateException if there is none, with words for the user
     */
    public static String find(String named) {
        if (named != null && !named.isEmpty()) {
            if (new File(named).canExecute()) return new File(named).getAbsolutePath();
            throw new IllegalStateException("ravel.binary: " + named + " is not a program");
        }
        String found = find();
        if (found == null) throw new IllegalStateException(NOT_FOUND);
        return found;
    }
}
