package shop;

/** Counts what is left on the shelf. */
public class Stock {
    private final Log log = new Log();
    private int items = 1;

    public synchronized int count() {
        return items;
    }

    public synchronized void remove(int n) {
        if (items < n) {
            throw new IllegalStateException("only " + items + " left");
        }
        items -= n;
    }

    public boolean take(int n) {
        if (count() >= n) {
            remove(n);
            return true;
        }
        return false;
    }
}
