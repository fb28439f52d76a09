/* expect:
 *   thread main, t1, t2, t3, opener
 *   wait Gate >= 3
 *   resume Gate >= 3
 *   wait Gate >= 1 by t3
 *   notify-all Gate == 1 by opener
 *   notify Gate == 0
 *   write Gate.passed == 1 by t3
 * about: three threads wait, one notifyAll lets all of them go
 */
public class WaitNotifyAll {
    static class Gate {
        boolean open;
        int passed;

        synchronized void pass() {
            try {
                while (!open) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            passed++;
        }

        synchronized void close() {
            open = false;
        }

        synchronized void lift() {
            open = true;
            notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        gate.close();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(gate::pass, "t" + (i + 1));
            threads[i].start();
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        Thread opener = new Thread(gate::lift, "opener");
        opener.start();
        opener.join();
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(gate.passed);
    }
}
