/* bug:
 *   rule atomicity | unserializable | atomic-set
 *   variable SetBack.Setting.value
 *   evidence harmful
 *   outcome value
 * about: One thread sets the value that it has read, and so undoes what another one has set in between. Two more threads set values afterwards:
 *   what the two left behind is wrong all the same.
 */
public class SetBack {
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
        threads[3] = new Thread(() -> setting.set(setting.get()), "keeper");
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
