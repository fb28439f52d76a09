/* fixed: Connection */
public class ConnectionFixed {
    static class Multiplexer {
        private int requests;

        synchronized int send() {
            return ++requests;
        }
    }

    static class Link {
        private Multiplexer multiplexer;

        synchronized void open() {
            Multiplexer made = new Multiplexer();
            multiplexer = made;
            notifyAll();
        }

        synchronized int invoke() {
            while (multiplexer == null) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException("connection is not open", e);
                }
            }
            return multiplexer.send();
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
