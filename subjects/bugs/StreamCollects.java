/* bug:
 *   rule data-race
 *   variable StreamCollects.found
 *   evidence confirmed
 *   outcome exit | value | exception
 * about: A parallel stream adds to an ArrayList. With few processors one thread does all the work of the recorded run.
 */
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

public class StreamCollects {
    private final List<Integer> found = new ArrayList<>();

    void collect(int count) {
        IntStream.range(0, count).parallel().filter(n -> n % 3 == 0).forEach(n -> found.add(n));
    }

    public static void main(String[] args) {
        StreamCollects collects = new StreamCollects();
        collects.collect(24);
        System.out.println("found " + collects.found.size());
        if (collects.found.size() != 8) {
            System.exit(1);
        }
    }
}
