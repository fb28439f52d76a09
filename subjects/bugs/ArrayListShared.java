/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Guests.names
 *   evidence harmful
 *   outcome exit | value | exception
 * about: Two threads add to one ArrayList without a lock: both write the same slot, and one element is lost.
 */
import java.util.ArrayList;
import java.util.List;

public class ArrayListShared {
    static class Guests {
        private final List<String> names = new ArrayList<>();

        void add(String name) {
            names.add(name);
        }

        int count() {
            return names.size();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Guests guests = new Guests();
        guests.add("zoe");
        runBoth(() -> guests.add("ann"), () -> guests.add("bob"));
        System.out.println(guests.count() + " guests");
        if (guests.count() != 3) {
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
