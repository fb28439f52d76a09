/* fixed: CountedReaders
 * Test and count are one step.
 */
public class CountedReadersFixed {
    private int readers;
    private boolean writes;
    private int left;
    private int right;

    private synchronized boolean beginRead() {
        if (writes) return false;
        readers++;
        return true;
    }

    private synchronized void countReader(int by) {
        readers += by;
    }

    private synchronized boolean beginWrite() {
        if (writes || readers > 0) return false;
        writes = true;
        return true;
    }

    private synchronized void endWrite() {
        writes = false;
    }

    void read() {
        if (!beginRead()) return;
        int one = left;
        int other = right;
        countReader(-1);
        if (one != other) throw new IllegalStateException(one + " and " + other);
    }

    void write() {
        if (!beginWrite()) return;
        left++;
        right++;
        endWrite();
    }

    public static void main(String[] args) throws InterruptedException {
        CountedReadersFixed pair = new CountedReadersFixed();
        Thread reader = new Thread(pair::read, "reader");
        Thread writer = new Thread(pair::write, "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
