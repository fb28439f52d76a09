import java.nio.file.Files;
import java.nio.file.Path;

/** Links every class named in a file, without running any of its code, and prints what fails. */
public class LinkAll {
    public static void main(String[] args) throws Exception {
        int linked = 0, failed = 0;
        for (String name : Files.readAllLines(Path.of(args[0]))) {
            try {
                // Listing the methods links the class, which verifies it.
                Class.forName(name.replace('/', '.'), false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
                linked++;
            } catch (VerifyError | ClassFormatError error) {
                failed++;
                System.out.println("FAILED " + name + ": " + error);
            } catch (LinkageError | ClassNotFoundException error) {
                System.out.println("unlinked " + name + ": " + error);
            }
        }
        System.out.println("linked " + linked + " failed " + failed);
    }
}
