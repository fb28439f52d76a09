/* expect:
 *   thread main, Cleaner-0
 *   fork Cleaner-0 == 1 by main
 *   write|update Cleaners.closed >= 1 by Cleaner-0
 *   receive Action >= 1 by Cleaner-0
 * about: The thread of a Cleaner; what was done before an object was registered happens before its action runs.
 */
import java.lang.ref.Cleaner;

public class Cleaners {
    static volatile int closed;

    static class Action implements Runnable {
        @Override
        public void run() {
            closed++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        register(Cleaner.create());
        for (int i = 0; closed == 0 && i < 100; i++) {
            System.gc();
            Thread.sleep(20);
        }
        System.out.println("closed " + closed);
    }

    static void register(Cleaner cleaner) {
        cleaner.register(new Object(), new Action());
    }
}
