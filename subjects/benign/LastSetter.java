/* silent
 * Three threads set a field, one reads it, and main reads it without waiting for any: which value is seen is a matter of order, and
 * all of them are right.
 */
public class LastSetter {
    static class Setting {
        private int value;
        private int changes;

        synchronized int set(int next) {
            int old = value;
            value = next;
            changes++;
            return old;
        }

        synchronized int get() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Setting setting = new Setting();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 3; i++) {
            int next = i + 1;
            threads[i] = new Thread(() -> setting.set(next), "setter" + next);
        }
        threads[3] = new Thread(setting::get, "reader");
        for (Thread thread : threads) {
            thread.start();
        }
        int early = setting.get();
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(early >= 0 && setting.get() >= 0);
    }
}
