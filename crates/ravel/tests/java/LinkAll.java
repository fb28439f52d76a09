import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Links every n-th class of java.base, or of the jars named, which makes the JVM verify it, without running its
 * initialiser. Prints each class that does not link, and the count of those that do. Classes whose superclasses or
 * parameters are not there cannot be linked by anyone and do not count.
 */
public final class LinkAll {
    public static void main(String[] args) throws Exception {
        int every = Integer.parseInt(args[0]);
        System.out.println("control: " + control());
        List<String> names = new ArrayList<>();
        if (args.length == 1) names = ofJavaBase();
        for (int i = 1; i < args.length; i++) names.addAll(of(args[i]));
        ClassLoader loader = args.length == 1 ? null : LinkAll.class.getClassLoader();
        int linked = 0, missing = 0;
        for (int i = 0; i < names.size(); i += every) {
            Throwable problem = link(names.get(i), loader);
            if (problem == null) linked++;
            else if (loader != null && problem instanceof NoClassDefFoundError) missing++;
            else System.out.println("failed: " + names.get(i) + ": " + problem.toString().lines().findFirst().orElse(""));
        }
        System.out.println("missing: " + missing);
        System.out.println("linked: " + linked);
    }

    private static List<String> ofJavaBase() throws Exception {
        Path base = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base");
        try (Stream<Path> files = Files.walk(base)) {
            return classes(files.map(file -> base.relativize(file).toString()));
        }
    }

    private static List<String> of(String jar) throws Exception {
        try (JarFile file = new JarFile(jar)) {
            return classes(file.stream().map(entry -> entry.getName()).filter(name -> !name.startsWith("META-INF/")));
        }
    }

    private static List<String> classes(Stream<String> files) {
        return files.filter(file -> file.endsWith(".class") && !file.endsWith("module-info.class"))
                .map(file -> file.substring(0, file.length() - 6).replace('/', '.'))
                .sorted()
                .toList();
    }

    private static Throwable link(String name, ClassLoader loader) {
        try {
            // HotSpot links a class before it tells its members, and initialises it only when one of them is used.
            Class.forName(name, false, loader).getDeclaredMethods();
            return null;
        } catch (ClassNotFoundException | LinkageError problem) {
            return problem;
        }
    }

    /** A class that must not verify: were it taken, nothing above would mean anything. */
    private static String control() throws Exception {
        byte[] bytes;
        try (InputStream in = LinkAll.class.getResourceAsStream("LinkAll$Broken.class")) {
            bytes = in.readAllBytes();
        }
        int broken = 0;
        for (int i = 0; i + 1 < bytes.length; i++) {
            // iconst_1, ireturn becomes aconst_null, ireturn.
            if (bytes[i] == 0x04 && bytes[i + 1] == (byte) 0xAC) {
                bytes[i] = 0x01;
                broken++;
            }
        }
        if (broken != 1) return "not one place to break but " + broken;
        try {
            MethodHandles.lookup().defineClass(bytes).getDeclaredMethods();
            return "taken";
        } catch (VerifyError expected) {
            return "refused";
        }
    }

    static final class Broken {
        static int one() {
            return 1;
        }
    }
}
