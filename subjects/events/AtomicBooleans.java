/* expect:
 *   thread main, t1
 *   read AtomicBoolean.value == 2 by t1
 *   write AtomicBoolean.value == 1 by t1
 *   update AtomicBoolean.value == 2 by t1
 * about: get, set, getAndSet, compareAndSet with and without success
 */
import java.util.concurrent.atomic.AtomicBoolean;

public class AtomicBooleans {
    public static void main(String[] args) throws InterruptedException {
        AtomicBoolean flag = new AtomicBoolean();
        flag.set(true);
        Thread t1 = new Thread(() -> {
            boolean seen = flag.get();
            flag.set(!seen);
            boolean first = flag.compareAndSet(false, true);
            boolean second = flag.compareAndSet(false, true);
            boolean old = flag.getAndSet(false);
            System.out.println(seen + " " + first + " " + second + " " + old);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(flag.get());
    }
}
