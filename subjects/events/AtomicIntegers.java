/* expect:
 *   thread main, t1
 *   read AtomicInteger.value == 2 by t1
 *   write AtomicInteger.value == 2 by t1
 *   update AtomicInteger.value == 5 by t1
 *   read AtomicInteger.value >= 1 by main
 * about: get and a compareAndSet that fails read; set and lazySet write; incrementAndGet, getAndAdd, getAndSet,
 *   updateAndGet and a compareAndSet that succeeds do both in one step
 */
import java.util.concurrent.atomic.AtomicInteger;

public class AtomicIntegers {
    public static void main(String[] args) throws InterruptedException {
        AtomicInteger number = new AtomicInteger(1);
        number.set(2);
        Thread t1 = new Thread(() -> use(number), "t1");
        t1.start();
        t1.join();
        System.out.println(number.get());
    }

    static void use(AtomicInteger number) {
        int seen = number.get();
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
