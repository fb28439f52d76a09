/* expect:
 *   thread main
 * about: parallel streams in the common pool, whose daemon threads outlive main; how the work is split is not fixed
 */
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

public class ParallelStreams {
    public static void main(String[] args) {
        AtomicLong sum = new AtomicLong();
        IntStream.range(0, 1000).parallel().forEach(sum::addAndGet);
        System.out.println(sum.get());
        System.out.println(IntStream.rangeClosed(1, 100).parallel().map(x -> x * x).sum());
    }
}
