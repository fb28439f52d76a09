/* silent
 * A bounded ring with two producers and a consumer that polls: an offer may find it full, a poll may find it empty, depending on what the
 * other threads have done so far.
 */
public class RingBuffer {
    private final int[] cells = new int[2];
    private int head;
    private int size;

    synchronized boolean offer(int value) {
        if (size == cells.length) return false;
        cells[(head + size) % cells.length] = value;
        size++;
        return true;
    }

    synchronized int poll() {
        if (size == 0) return -1;
        int value = cells[head];
        head = (head + 1) % cells.length;
        size--;
        return value;
    }

    synchronized int size() {
        return size;
    }

    /** Looks first, as a caller may; the answer of poll alone counts. */
    int take() {
        if (size() == 0) return -1;
        return poll();
    }

    public static void main(String[] args) throws InterruptedException {
        RingBuffer ring = new RingBuffer();
        Thread one = new Thread(() -> {
            ring.offer(1);
            ring.offer(2);
        }, "one");
        Thread two = new Thread(() -> {
            ring.offer(3);
            ring.offer(4);
        }, "two");
        Thread consumer = new Thread(() -> {
            int sum = 0;
            for (int i = 0; i < 3; i++) {
                int value = ring.take();
                if (value > 0) sum += value;
            }
            if (sum > 10) throw new IllegalStateException("more than was put in: " + sum);
        }, "consumer");
        one.start();
        two.start();
        consumer.start();
        one.join();
        two.join();
        consumer.join();
    }
}
