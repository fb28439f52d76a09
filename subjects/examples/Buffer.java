/* finding: notify-one
 * about: Producers and consumers wait on one monitor, and `notify` may wake the wrong one.
 */
public class Buffer {
    private final int[] items = new int[4];
    private int count;

    public synchronized void put(int item) throws InterruptedException {
        while (count == items.length) {
            wait();
        }
        items[count++] = item;
        notify();
    }

    public synchronized int take() throws InterruptedException {
        while (count == 0) {
            wait();
        }
        notify();
        return items[--count];
    }
}
