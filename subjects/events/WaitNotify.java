/* expect:
 *   thread main, t1, t2
 *   wait Gate >= 1 by t1
 *   resume Gate >= 1 by t1
 *   notify Gate == 1 by t2
 *   acquire Gate == 1 by t2
 *   release Gate == 1 by t2
 *   write Gate.open == 1 by t2
 *   read Gate.open >= 2 by t1
 *   notify-all Gate == 0
 * about: t1 waits in the usual loop, t2 notifies once t1 is waiting
 */
public class WaitNotify {
    static class Gate {
        boolean open;

        synchronized void pass() throws InterruptedException {
            while (!open) {
                wait();
            }
        }

        synchronized void close() {
            open = false;
        }

        synchronized void lift() {
            open = true;
            notify();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        gate.close();
        Thread t1 = new Thread(() -> {
            try {
                gate.pass();
                System.out.println("passed");
            } catch (InterruptedException e) {
                System.out.println("interrupted");
            }
        }, "t1");
        t1.start();
        while (t1.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread t2 = new Thread(gate::lift, "t2");
        t2.start();
        t2.join();
        t1.join();
    }
}
