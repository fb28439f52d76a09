/* finding: naked-notify
 * about: `ring` sets the flag outside the critical section that notifies.
 */
public class Bell {
    private final Object lock = new Object();
    private boolean rung;

    public void ring() {
        rung = true;
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    public void await() throws InterruptedException {
        synchronized (lock) {
            while (!rung) {
                lock.wait();
            }
        }
    }
}
