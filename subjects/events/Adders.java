/* expect:
 *   thread main, t1
 *   write|update LongAdder.* >= 1 by t1
 *   read LongAdder.* >= 1 by main
 * about: LongAdder and LongAccumulator
 */
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

public class Adders {
    public static void main(String[] args) throws InterruptedException {
        LongAdder adder = new LongAdder();
        LongAccumulator largest = new LongAccumulator(Long::max, Long.MIN_VALUE);
        adder.add(1);
        largest.accumulate(3);
        Thread t1 = new Thread(() -> {
            adder.add(4);
            adder.increment();
            largest.accumulate(8);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(adder.sum() + " " + largest.get());
    }
}
