/* fixed: OldClassFile */
import java.io.InputStream;

public class OldClassFileFixed extends ClassLoader {
    OldClassFileFixed() {
        super(OldClassFileFixed.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.equals("OldClassFileFixed$Stock")) {
            return super.loadClass(name, resolve);
        }
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
            return loaded;
        }
        try (InputStream in = OldClassFileFixed.class.getResourceAsStream("OldClassFileFixed$Stock.class")) {
            byte[] bytes = in.readAllBytes();
            bytes[7] = 46;
            return defineClass(name, bytes, 0, bytes.length);
        } catch (java.io.IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    public static void main(String[] args) throws Exception {
        Class<?> stock = new OldClassFileFixed().loadClass("OldClassFileFixed$Stock");
        Thread buyer = new Thread((Runnable) stock.getConstructor().newInstance(), "buyer");
        Thread other = new Thread((Runnable) stock.getConstructor().newInstance(), "other");
        buyer.start();
        Thread.sleep(50);
        other.start();
        buyer.join();
        other.join();
        int left = ((Number) stock.getMethod("value").invoke(null)).intValue();
        System.out.println("left " + left);
        System.exit(left < 0 ? 1 : 0);
    }

    public static class Stock implements Runnable {
        static int left = 1;

        public Stock() {
        }

        static synchronized int left() {
            return left;
        }

        static synchronized void take() {
            left--;
        }

        public static Integer value() {
            return Integer.valueOf(left());
        }

        static synchronized void buy() {
            if (left() > 0) {
                take();
            }
        }

        public void run() {
            buy();
        }
    }
}
