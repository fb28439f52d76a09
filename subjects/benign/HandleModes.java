/* silent
 * Plain fields and array elements that are used through VarHandles and an updater only: every access is atomic, and release and
 * acquire publish what was written before.
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

public class HandleModes {
    static class Box {
        static int total;
        int content;
        int ready;
        int count;
        int seen;
        volatile int turns;
        final int[] slots = new int[2];
    }

    static final VarHandle READY, COUNT, SEEN, TOTAL;
    static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(int[].class);
    static final AtomicIntegerFieldUpdater<Box> TURNS = AtomicIntegerFieldUpdater.newUpdater(Box.class, "turns");

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            READY = lookup.findVarHandle(Box.class, "ready", int.class);
            COUNT = lookup.findVarHandle(Box.class, "count", int.class);
            SEEN = lookup.findVarHandle(Box.class, "seen", int.class);
            TOTAL = lookup.findStaticVarHandle(Box.class, "total", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Read, compute, compare-and-set, and again if another thread was faster. */
    static void count(Box box) {
        int old;
        do {
            old = (int) COUNT.getVolatile(box);
        } while (!COUNT.compareAndSet(box, old, old + 1));
        TOTAL.getAndAdd(1);
        TURNS.incrementAndGet(box);
        SLOT.getAndAdd(box.slots, 1, 1);
        SEEN.setOpaque(box, 1);
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Thread t1 = new Thread(() -> {
            count(box);
            box.content = 5;
            READY.setRelease(box, 1);
        }, "t1");
        Thread t2 = new Thread(() -> {
            count(box);
            while ((int) READY.getAcquire(box) == 0) {
                Thread.onSpinWait();
            }
            if (box.content != 5 || (int) SEEN.getOpaque(box) != 1) {
                throw new AssertionError("published too early");
            }
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println((int) COUNT.getVolatile(box) + " " + (int) TOTAL.getVolatile() + " " + box.turns + " "
                + (int) SLOT.getVolatile(box.slots, 1));
    }
}
