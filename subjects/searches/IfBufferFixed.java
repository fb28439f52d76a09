/* fixed: IfBuffer
 * The consumers test again after each wait.
 */
public class IfBufferFixed {
    private final int[] items = new int[1];
    private int count;

    synchronized void put(int item) throws InterruptedException {
        while (count == items.length) wait();
        items[count++] = item;
        notifyAll();
    }

    synchronized int take() throws InterruptedException {
        while (count == 0) wait();
        if (count <= 0) throw new IllegalStateException("nothing to take");
        int item = items[--count];
        notifyAll();
        return item;
    }

    public static void main(String[] args) throws InterruptedException {
        IfBufferFixed buffer = new IfBufferFixed();
        Runnable consumer = () -> {
            try {
                buffer.take();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        Thread one = new Thread(consumer, "one");
        Thread two = new Thread(consumer, "two");
        one.start();
        buffer.put(1);
        two.start();
        buffer.put(2);
        one.join();
        two.join();
    }
}
