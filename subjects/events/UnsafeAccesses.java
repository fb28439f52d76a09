/* expect:
 *   thread main, t1
 *   read Cell.count >= 2 by t1
 *   update Cell.count >= 3 by t1
 *   update Cell.next >= 1 by t1
 *   read Cell.count >= 1 by main
 *   read int[] >= 1 by main
 * about: plain, volatile, ordered and atomic access to a field and to an element of an array through Unsafe; the location is the one
 *   that plain accesses are to
 */
import java.lang.reflect.Field;
import sun.misc.Unsafe;

public class UnsafeAccesses {
    static class Cell {
        int count;
        Object next;
    }

    public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        long count = unsafe.objectFieldOffset(Cell.class.getDeclaredField("count"));
        long next = unsafe.objectFieldOffset(Cell.class.getDeclaredField("next"));
        long second = Unsafe.ARRAY_INT_BASE_OFFSET + Unsafe.ARRAY_INT_INDEX_SCALE;
        Cell cell = new Cell();
        int[] cells = new int[2];
        cell.count = 1;
        cells[1] = 1;
        Thread t1 = new Thread(() -> {
            unsafe.putIntVolatile(cell, count, unsafe.getIntVolatile(cell, count) + 1);
            unsafe.putOrderedInt(cell, count, unsafe.getInt(cell, count) + 1);
            boolean swapped = unsafe.compareAndSwapInt(cell, count, 3, 10);
            unsafe.getAndSetObject(cell, next, "end");
            unsafe.getAndAddInt(cells, second, 4);
            System.out.println(swapped);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(cell.count + " " + cells[1]);
    }
}
