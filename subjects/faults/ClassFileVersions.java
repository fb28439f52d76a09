/* fault:
 *   exit 0
 *   output exact
 * about: the same code in class files of every version that the JVM takes, from 45 on. Before version 49 the instruction ldc
 * cannot load a class, and before version 50 there are no stack maps: hooks must do without both.
 */
import java.io.IOException;
import java.io.InputStream;

public class ClassFileVersions {
    static final class Loader extends ClassLoader {
        final int version;

        Loader(int version) {
            super(ClassFileVersions.class.getClassLoader());
            this.version = version;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("ClassFileVersions$Counter")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            try (InputStream in = ClassFileVersions.class.getResourceAsStream("ClassFileVersions$Counter.class")) {
                byte[] bytes = in.readAllBytes();
                bytes[4] = 0;
                bytes[5] = 0;
                bytes[6] = 0;
                bytes[7] = (byte) version;
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int newest = Runtime.version().feature() + 44;
        for (int version = 45; version <= newest; version++) {
            Runnable counter = (Runnable) new Loader(version).loadClass("ClassFileVersions$Counter").getConstructor().newInstance();
            Thread one = new Thread(counter, "one");
            Thread two = new Thread(counter, "two");
            one.start();
            two.start();
            one.join();
            two.join();
            System.out.println("version " + version + ": " + counter);
        }
    }

    /** Uses nothing that a class file of version 45 cannot say. */
    public static class Counter implements Runnable {
        static int total;
        /** The first two are guarded by the class, the third by the array. */
        static final int[] CELLS = new int[3];
        int own;
        long wide;

        public Counter() {
        }

        static synchronized void count() {
            total++;
            CELLS[total % 2]++;
        }

        static synchronized int total() {
            return total;
        }

        synchronized void countOwn() {
            own++;
            wide += 2;
        }

        public void run() {
            for (int i = 0; i < 5; i++) {
                count();
                countOwn();
                synchronized (CELLS) {
                    try {
                        CELLS.wait(1);
                        CELLS.notifyAll();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    } finally {
                        CELLS[2]++;
                    }
                }
            }
        }

        public String toString() {
            return new StringBuffer().append(total()).append(' ').append(own).append(' ').append(wide).append(' ').append(CELLS[0] + CELLS[1] + CELLS[2]).toString();
        }
    }
}
