package ravel.junit;

import java.io.File;

/** Finds the program {@code ravel}: the property {@code ravel.binary}, the variable {@code RAVEL_BINARY}, then the {@code PATH}. */
final class Binary {
    private Binary() {}

    static final String NOT_FOUND = "the program `ravel` is not on the PATH; install it, or name it with -Dravel.binary=FILE";

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
}
