/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: CountedReaders.java:37
 * about: readers and writers kept apart by counters: a reader tests for a writer and only then counts itself, and a writer may begin in between.
 */
public class CountedReaders {
    private int readers;
    private boolean writes;
    private int left;
    private int right;

    private synchronized boolean isWritten() {
        return writes;
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
        if (isWritten()) return;
        countReader(1);
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
        CountedReaders pair = new CountedReaders();
        Thread reader = new Thread(pair::read, "reader");
        Thread writer = new Thread(pair::write, "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
