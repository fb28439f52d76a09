/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Phonebook.numbers
 *   evidence harmful
 *   outcome exit | value | exception
 * about: Two threads put into one HashMap without a lock: an entry or a count of the size is lost.
 */
import java.util.HashMap;
import java.util.Map;

public class HashMapShared {
    static class Phonebook {
        private final Map<String, Integer> numbers = new HashMap<>();

        void add(String name, int number) {
            numbers.put(name, number);
        }

        int size() {
            return numbers.size();
        }

        boolean has(String name) {
            return numbers.containsKey(name);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Phonebook book = new Phonebook();
        book.add("zoe", 1);
        runBoth(() -> book.add("ann", 2), () -> book.add("bob", 3));
        System.out.println(book.size() + " names");
        if (book.size() != 3 || !book.has("ann") || !book.has("bob")) {
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
