/* expect:
 *   thread main, t1
 *   acquire Gate == 1 by t1
 *   release Gate == 1 by t1
 *   wait Gate == 1 by t1
 *   resume Gate == 1 by t1
 *   end == 1 by t1
 * about: an interrupt ends a wait; the monitor is taken back before the exception is seen
 */
public class InterruptedWait {
    static class Gate {
        boolean interrupted;

        synchronized void pause() {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = Thread.holdsLock(this) && !Thread.currentThread().isInterrupted();
            }
        }

        synchronized void touch() {
            interrupted = false;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        gate.touch();
        Thread t1 = new Thread(gate::pause, "t1");
        t1.start();
        while (t1.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        t1.interrupt();
        t1.join();
        System.out.println(gate.interrupted);
    }
}
