import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;

/** An agent beside Ravel's, as profilers and mocking libraries have one. */
public class Redefiner {
    static Instrumentation instrumentation;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    static void redefine(Class<?> type, Path file) throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(type, Files.readAllBytes(file)));
    }

    /** Has the JVM make the class anew from what it keeps of it. */
    static int retransform(Class<?> type) throws Exception {
        int[] seen = {0};
        ClassFileTransformer transformer = new ClassFileTransformer() {
            @Override public byte[] transform(ClassLoader loader, String name, Class<?> of, ProtectionDomain domain, byte[] bytes) {
                if (of == type) seen[0]++;
                return of == type ? bytes : null;
            }
        };
        instrumentation.addTransformer(transformer, true);
        instrumentation.retransformClasses(type);
        instrumentation.removeTransformer(transformer);
        return seen[0];
    }
}
