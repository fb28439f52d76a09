/* bug:
 *   rule atomicity | atomic-set | unserializable
 *   variable Tickets.numbers
 *   evidence harmful
 *   outcome exit | value
 * about: A synchronized list is asked for its size and then told to add with that number: two calls, so two entries
 *   get the same number.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

public class WrapperCheckThenAct {
    static class Tickets {
        private final List<Integer> numbers = Collections.synchronizedList(new ArrayList<>());

        int issue() {
            int number = numbers.size() + 1;
            numbers.add(number);
            return number;
        }

        boolean allDifferent() {
            return numbers.size() == Set.copyOf(numbers).size();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tickets tickets = new Tickets();
        runBoth(tickets::issue, tickets::issue);
        System.out.println(tickets.allDifferent() ? "all different" : "a number twice");
        if (!tickets.allDifferent()) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
