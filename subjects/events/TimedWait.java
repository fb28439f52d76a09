/* expect:
 *   thread main, t1
 *   acquire Gate == 1 by t1
 *   release Gate == 1 by t1
 *   wait Gate == 2 by t1
 *   resume Gate == 2 by t1
 *   notify Gate == 0
 *   notify-all Gate == 0
 * about: two timed waits that nobody notifies, one with nanoseconds, inside one re-entrant hold
 */
public class TimedWait {
    static class Gate {
        boolean touched;

        synchronized void pause() throws InterruptedException {
            again();
        }

        synchronized void again() throws InterruptedException {
            wait(20);
            wait(10, 500);
        }

        synchronized void touch() {
            touched = true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        gate.touch();
        Thread t1 = new Thread(() -> {
            try {
                gate.pause();
                System.out.println("timed out");
            } catch (InterruptedException e) {
                System.out.println("interrupted");
            }
        }, "t1");
        t1.start();
        t1.join();
    }
}
