/* silent
 * Plain fields and array elements that are used through Unsafe only: every access is atomic, and an ordered write publishes what was
 * written before.
 */
import java.lang.reflect.Field;
import sun.misc.Unsafe;

public class UnsafeModes {
    static class Box {
        int content;
        int ready;
        int count;
        long sum;
        Object head;
        final int[] slots = new int[2];
    }

    static final Unsafe UNSAFE;
    static final long READY, COUNT, SUM, HEAD;
    static final long SLOT = Unsafe.ARRAY_INT_BASE_OFFSET + Unsafe.ARRAY_INT_INDEX_SCALE;

    static {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            UNSAFE = (Unsafe) field.get(null);
            READY = UNSAFE.objectFieldOffset(Box.class.getDeclaredField("ready"));
            COUNT = UNSAFE.objectFieldOffset(Box.class.getDeclaredField("count"));
            SUM = UNSAFE.objectFieldOffset(Box.class.getDeclaredField("sum"));
            HEAD = UNSAFE.objectFieldOffset(Box.class.getDeclaredField("head"));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Thread t1 = new Thread(() -> {
            UNSAFE.getAndAddInt(box, COUNT, 1);
            UNSAFE.getAndAddLong(box, SUM, 5L);
            UNSAFE.getAndAddInt(box.slots, SLOT, 1);
            UNSAFE.compareAndSwapObject(box, HEAD, null, "t1");
            box.content = 5;
            UNSAFE.putOrderedInt(box, READY, 1);
        }, "t1");
        Thread t2 = new Thread(() -> {
            UNSAFE.getAndAddInt(box, COUNT, 1);
            UNSAFE.getAndAddLong(box, SUM, 5L);
            UNSAFE.getAndAddInt(box.slots, SLOT, 1);
            UNSAFE.compareAndSwapObject(box, HEAD, null, "t2");
            if (UNSAFE.getIntVolatile(box, READY) == 1 && box.content != 5) {
                throw new AssertionError("published too early");
            }
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(UNSAFE.getIntVolatile(box, COUNT) + " " + UNSAFE.getLongVolatile(box, SUM) + " "
                + UNSAFE.getIntVolatile(box.slots, SLOT));
    }
}
