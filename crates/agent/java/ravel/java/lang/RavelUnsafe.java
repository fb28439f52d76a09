package java.lang;

/**
 * Stands for the methods of {@code sun.misc.Unsafe} that access memory of objects, where the program and frameworks call them on JDK 8: there
 * these are native. The agent adds the methods when it defines the class, see old_unsafe.rs.
 */
public final class RavelUnsafe {
    private RavelUnsafe() {}
}
