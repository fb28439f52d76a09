/* expect:
 *   thread main, t1
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 *   read|update Cell.count|VarHandleInts.* >= 2 by t1
 *   write|update Cell.count|VarHandleInts.* >= 2 by t1
 *   write|update VarHandleByteArrayAsLongs.* >= 1 by t1
 *   read Cell.count >= 1 by main
 *   update VarHandles.total >= 2 by t1
 *   read VarHandles.total >= 1 by t1
 *   read VarHandles.total == 1 by main
 * about: plain, volatile, acquire/release and compare-and-set access to a field, a static field, and to elements and stretches of
 *   arrays; whoever goes through a handle and whoever names the field access the same location
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class VarHandles {
    static class Cell {
        int count;
    }

    static int total;
    static final VarHandle COUNT;
    static final VarHandle TOTAL;
    static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);
    static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, java.nio.ByteOrder.nativeOrder());

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Cell.class, "count", int.class);
            TOTAL = MethodHandles.lookup().findStaticVarHandle(VarHandles.class, "total", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        int[] cells = new int[2];
        byte[] bytes = new byte[24];
        LONGS.set(bytes, 0, 1L);
        cell.count = 1;
        cells[0] = 1;
        Thread t1 = new Thread(() -> {
            COUNT.setVolatile(cell, (int) COUNT.getVolatile(cell) + 1);
            COUNT.setRelease(cell, (int) COUNT.getAcquire(cell) + 1);
            boolean swapped = COUNT.compareAndSet(cell, 3, 10);
            int old = (int) COUNT.getAndAdd(cell, 5);
            COUNT.set(cell, (int) COUNT.get(cell) + 100);
            TOTAL.getAndAdd(3);
            boolean exchanged = TOTAL.compareAndSet(3, 4);
            int seen = (int) TOTAL.getVolatile();
            ELEMENT.getAndAdd(cells, 1, 4);
            LONGS.set(bytes, 8, 6L);
            VarHandle.fullFence();
            System.out.println(swapped + " " + old + " " + exchanged + " " + seen);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(cell.count + " " + cells[1] + " " + (long) LONGS.get(bytes, 8) + " " + total);
    }
}
