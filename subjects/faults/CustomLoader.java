/* fault:
 *   exit 0
 *   output exact
 * about: a class loader of the program's own loads a second copy of a class from the same bytes: two classes, two
 *   sets of statics, two locks; and a class is loaded while another thread loads too
 */
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;

public class CustomLoader {
    public static class Plugin implements Runnable {
        static int loads;
        private int runs;

        static synchronized int bump() {
            return ++loads;
        }

        @Override
        public void run() {
            synchronized (this) {
                runs++;
            }
            bump();
        }
    }

    static class Loader extends ClassLoader {
        Loader() {
            super(CustomLoader.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("CustomLoader$Plugin")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Plugin.bump();
        Loader loader = new Loader();
        Class<?> type = loader.loadClass("CustomLoader$Plugin");
        System.out.println((type == Plugin.class) + " " + type.getName());
        Runnable plugin = (Runnable) type.getDeclaredConstructor().newInstance();
        Thread t1 = new Thread(plugin, "t1");
        Thread t2 = new Thread(new Plugin(), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        Method bump = type.getDeclaredMethod("bump");
        bump.setAccessible(true);
        System.out.println(bump.invoke(null) + " " + Plugin.bump());
    }
}
