/* finding: unsafe-publication
 * about: The constructor starts the thread before it assigns the interval.
 */
public class Poller implements Runnable {
    private long interval;

    public Poller(long millis) {
        new Thread(this).start();
        interval = millis;
    }

    @Override
    public void run() {
        System.out.println("polls every " + interval + " ms");
    }
}
