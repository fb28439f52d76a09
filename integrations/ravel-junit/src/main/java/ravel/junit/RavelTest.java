package ravel.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that fails if Ravel proves a concurrency bug in it. It runs as any other test first; then Ravel records it alone in a JVM of its own, forces
 * other orders of its threads, and the test fails with the interleaving if one of them does harm.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(RavelExtension.class)
public @interface RavelTest {
    /** Seconds for the analysis and all forced runs of this test. */
    int budget() default 60;
}
