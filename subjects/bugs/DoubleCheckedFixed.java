/* fixed: DoubleChecked */
public class DoubleCheckedFixed {
    static class Settings {
        private static volatile Settings instance;
        private String[] names;

        static Settings get() {
            if (instance == null) {
                synchronized (Settings.class) {
                    if (instance == null) {
                        Settings made = new Settings();
                        made.load();
                        instance = made;
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
        runBoth(DoubleCheckedFixed::settings, DoubleCheckedFixed::settings);
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
