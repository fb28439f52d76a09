/* expect:
 *   thread main, t1
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 *   read|update Cell.count|VarHandleInts.* >= 2 by t1
 *   write|update Cell.count|VarHandleInts.* >= 2 by t1
 *   write|update VarHandleByteArrayAsLongs.* >= 1 by t1
 *   read Cell.count >= 1 by main
 * about: plain, volatile, acquire/release and compare-and-set access to a field, and to elements and stretches of arrays
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class VarHandles {
    static class Cell {
        int count;
    }

    static final VarHandle COUNT;
    static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);
    static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, java.nio.ByteOrder.nativeOrder());

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Cell.class, "count", int.class);
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
            ELEMENT.getAndAdd(cells, 1, 4);
            LONGS.set(bytes, 8, 6L);
            VarHandle.fullFence();
            System.out.println(swapped + " " + old);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(cell.count + " " + cells[1] + " " + (long) LONGS.get(bytes, 8));
    }
}
