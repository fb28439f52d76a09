/* expect:
 *   thread main, t1
 *   read AtomicLong.value == 2 by t1
 *   write AtomicLong.value == 2 by t1
 *   update AtomicLong.value == 5 by t1
 *   read AtomicLong.value >= 1 by main
 * about: get and a compareAndSet that fails read; set and lazySet write; incrementAndGet, getAndAdd, getAndSet,
 *   updateAndGet and a compareAndSet that succeeds do both in one step
 */
import java.util.concurrent.atomic.AtomicLong;

public class AtomicLongs {
    public static void main(String[] args) throws InterruptedException {
        AtomicLong number = new AtomicLong(1L);
        number.set(2L);
        Thread t1 = new Thread(() -> use(number), "t1");
        t1.start();
        t1.join();
        System.out.println(number.get());
    }

    static void use(AtomicLong number) {
        long seen = number.get();
        number.set(seen + 1);
        number.lazySet(10);
        number.incrementAndGet();
        number.getAndAdd(5);
        number.getAndSet(3);
        number.updateAndGet(x -> x * 2);
        boolean first = number.compareAndSet(6, 7);
        boolean second = number.compareAndSet(6, 8);
        System.out.println(first + " " + second);
    }
}
