/* silent
 * A number is published as the ring of the Disruptor publishes it: a plain read with an acquire fence after it, a plain write with a release fence
 *   before it, and atomic additions through a VarHandle. What was written before is seen by the thread that reads the number.
 */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class FencedSequence {
    static class Sequence {
        private static final VarHandle VALUE;
        private long value = -1;

        static {
            try {
                VALUE = MethodHandles.lookup().findVarHandle(Sequence.class, "value", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        long get() {
            long value = this.value;
            VarHandle.acquireFence();
            return value;
        }

        void set(long to) {
            VarHandle.releaseFence();
            this.value = to;
        }

        long add(long more) {
            return (long) VALUE.getAndAdd(this, more) + more;
        }
    }

    static final Sequence published = new Sequence();
    static final Sequence read = new Sequence();
    static final int[] ring = new int[8];
    static int sum;

    public static void main(String[] args) throws InterruptedException {
        Thread writer = new Thread(() -> {
            for (int i = 0; i < 4; i++) {
                ring[i] = i * i;
                published.set(i);
            }
        }, "writer");
        Thread reader = new Thread(() -> {
            for (int i = 0; i < 4; i++) {
                while (published.get() < i) {
                    Thread.onSpinWait();
                }
                sum += ring[i];
                read.add(1);
            }
        }, "reader");
        writer.start();
        reader.start();
        while (read.get() < 3) {
            Thread.onSpinWait();
        }
        System.out.println("sum " + sum);
        writer.join();
        reader.join();
    }
}
