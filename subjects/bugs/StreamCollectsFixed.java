/* fixed: StreamCollects */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

public class StreamCollectsFixed {
    private final List<Integer> found = Collections.synchronizedList(new ArrayList<>());

    void collect(int count) {
        IntStream.range(0, count).parallel().filter(n -> n % 3 == 0).forEach(n -> found.add(n));
    }

    public static void main(String[] args) {
        StreamCollectsFixed collects = new StreamCollectsFixed();
        collects.collect(24);
        System.out.println("found " + collects.found.size());
        if (collects.found.size() != 8) {
            System.exit(1);
        }
    }
}
