/* fixed: UnfencedSequence */
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class UnfencedSequenceFixed {
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

    static final Sequence sequence = new Sequence();

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(() -> sequence.add(2), "t1");
        Thread t2 = new Thread(() -> System.out.println(sequence.get() < 9), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }
}
