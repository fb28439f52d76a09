/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Settings.instance | Settings.names | Settings.*
 *   evidence harmful
 *   outcome exception
 * about: Double-checked locking that publishes the object before it has been filled: a thread that sees it in between
 *   uses a field that is still null.
 */
public class DoubleChecked {
    static class Settings {
        private static Settings instance;
        private String[] names;

        static Settings get() {
            if (instance == null) {
                synchronized (Settings.class) {
                    if (instance == null) {
                        instance = new Settings();
                        instance.load();
                    }
                }
            }
            return instance;
        }

        private void load() {
            names = new String[] {"colour", "size"};
        }

        int count() {
            return names.length;
        }
    }

    static int settings() {
        return Settings.get().count();
    }

    public static void main(String[] args) throws InterruptedException {
        runBoth(DoubleChecked::settings, DoubleChecked::settings);
        System.out.println(settings() + " settings");
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
