/* expect:
 *   thread main, t1
 *   read AtomicIntegerArray.* == 1 by t1
 *   write|update AtomicIntegerArray.* == 3 by t1
 *   update AtomicIntegerArray.* >= 2 by t1
 *   update AtomicLongArray.* == 1 by t1
 *   update AtomicReferenceArray.* == 1 by t1
 * about: one cell of an array at a time
 */
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

public class AtomicArrays {
    public static void main(String[] args) throws InterruptedException {
        AtomicIntegerArray ints = new AtomicIntegerArray(4);
        AtomicLongArray longs = new AtomicLongArray(4);
        AtomicReferenceArray<String> names = new AtomicReferenceArray<>(4);
        ints.set(0, 1);
        longs.set(0, 1);
        names.set(0, "a");
        Thread t1 = new Thread(() -> {
            int seen = ints.get(0);
            ints.set(1, seen);
            ints.incrementAndGet(2);
            ints.compareAndSet(3, 0, 9);
            longs.addAndGet(0, 1L << 33);
            names.compareAndSet(0, "a", "b");
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(ints + " " + longs + " " + names);
    }
}
