/* bug:
 *   rule data-race
 *   variable Link.multiplexer
 *   evidence confirmed
 *   outcome exception
 * about: One thread opens the connection, another uses it; nothing but timing makes sure that the first has set the
 *   field before the second reads it.
 */
public class Connection {
    static class Multiplexer {
        private int requests;

        synchronized int send() {
            return ++requests;
        }
    }

    static class Link {
        private Multiplexer multiplexer;

        void open() {
            Multiplexer made = new Multiplexer();
            multiplexer = made;
        }

        int invoke() {
            Multiplexer current = multiplexer;
            if (current == null) {
                throw new IllegalStateException("connection is not open");
            }
            return current.send();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Link link = new Link();
        runBoth(link::open, link::invoke);
        System.out.println("sent " + link.invoke());
        if (link.invoke() != 3) {
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
