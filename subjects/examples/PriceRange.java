/* finding: atomic-set
 * about: `move` writes the two bounds in two critical sections: a reader sees one old and one new bound. In an ordinary run the reader
 *   comes first.
 */
public class PriceRange {
    private int low = 10;
    private int high = 20;

    void move(int toLow, int toHigh) {
        synchronized (this) {
            low = toLow;
        }
        synchronized (this) {
            high = toHigh;
        }
    }

    synchronized int width() {
        return high - low;
    }

    public static void main(String[] args) throws InterruptedException {
        PriceRange range = new PriceRange();
        int[] seen = new int[1];
        Thread reader = new Thread(() -> seen[0] = range.width(), "reader");
        Thread mover = new Thread(() -> {
            pause();
            range.move(30, 40);
        }, "mover");
        reader.start();
        mover.start();
        reader.join();
        mover.join();
        System.out.println("width " + seen[0]);
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
