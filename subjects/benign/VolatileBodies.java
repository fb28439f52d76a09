/* silent
 * Volatile fields that the bodies of threads use together: a progress that one thread alone writes, a request that is answered, and Peterson's lock, which
 * keeps the two apart by nothing but volatile fields.
 */
public class VolatileBodies {
    static volatile int progress;
    static volatile int request;
    static volatile int answer;
    static volatile boolean wantsFirst;
    static volatile boolean wantsSecond;
    static volatile int turn;
    static int inside;

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> {
            for (int i = 0; i < 3; i++) {
                progress = progress + 1;
            }
            request = 7;
            while (answer == 0) {
                Thread.yield();
            }
            wantsFirst = true;
            turn = 2;
            while (wantsSecond && turn == 2) {
                Thread.yield();
            }
            inside++;
            wantsFirst = false;
        }, "first");
        Thread second = new Thread(() -> {
            int seen = progress;
            int later = progress;
            if (later < seen) {
                throw new IllegalStateException("progress went back");
            }
            while (request == 0) {
                Thread.yield();
            }
            answer = request + 1;
            wantsSecond = true;
            turn = 1;
            while (wantsFirst && turn == 1) {
                Thread.yield();
            }
            inside++;
            wantsSecond = false;
        }, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println(progress + " " + answer + " " + inside);
        if (inside != 2) {
            System.exit(1);
        }
    }
}
