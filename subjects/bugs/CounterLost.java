/* bug:
 *   rule data-race | atomicity
 *   variable Counter.value
 *   evidence harmful
 *   outcome exit | value
 * about: The smallest bug: a counter without a lock loses one of two additions.
 */
public class CounterLost {
    static class Counter {
        private int value;

        void add() {
            value++;
        }

        int get() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Counter counter = new Counter();
        runBoth(counter::add, counter::add);
        System.out.println("count " + counter.get());
        if (counter.get() != 2) {
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
