/* failure:
 *   rule failure
 *   outcome hang
 *   place WaitsForNothing.java:18
 * about: the thread that should set the flag ends without doing so, and the other one waits
 */
public class WaitsForNothing {
    private boolean ready;
    private int turns;

    synchronized void announce(boolean really) {
        ready = really;
        turns++;
    }

    synchronized void await() throws InterruptedException {
        while (!ready) {
            wait();
        }
        turns++;
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsForNothing gate = new WaitsForNothing();
        Thread setter = new Thread(() -> gate.announce(false), "setter");
        setter.start();
        gate.await();
        System.out.println("never reached");
    }
}
