/* finding: inconsistent-sync
 * about: Five of six accesses to `count` hold the lock.
 */
public class Basket {
    private int count;
    private long total;

    public synchronized void add(long price) {
        count++;
        total += price;
    }

    public synchronized void clear() {
        count = 0;
        total = 0;
    }

    public synchronized long average() {
        return count == 0 ? 0 : total / count;
    }

    public int count() {
        return count;
    }
}
