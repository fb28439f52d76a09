/* expect:
 *   thread main, t1
 *   update Cell.count|AtomicIntegerFieldUpdater.* == 2 by t1
 *   read Cell.count|AtomicIntegerFieldUpdater.* == 1 by t1
 *   update Cell.total|AtomicLongFieldUpdater.* == 1 by t1
 *   update Cell.name|AtomicReferenceFieldUpdater.* == 1 by t1
 *   read Cell.count >= 1 by main
 * about: updaters act on the fields of the object that they are given
 */
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

public class FieldUpdaters {
    static class Cell {
        static final AtomicIntegerFieldUpdater<Cell> COUNT = AtomicIntegerFieldUpdater.newUpdater(Cell.class, "count");
        static final AtomicLongFieldUpdater<Cell> TOTAL = AtomicLongFieldUpdater.newUpdater(Cell.class, "total");
        static final AtomicReferenceFieldUpdater<Cell, String> NAME =
                AtomicReferenceFieldUpdater.newUpdater(Cell.class, String.class, "name");
        volatile int count;
        volatile long total;
        volatile String name;
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        cell.count = 1;
        Thread t1 = new Thread(() -> {
            Cell.COUNT.incrementAndGet(cell);
            Cell.COUNT.compareAndSet(cell, 2, 5);
            Cell.COUNT.compareAndSet(cell, 2, 6);
            Cell.TOTAL.addAndGet(cell, 10);
            Cell.NAME.getAndSet(cell, "done");
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(cell.count + " " + cell.total + " " + cell.name);
    }
}
