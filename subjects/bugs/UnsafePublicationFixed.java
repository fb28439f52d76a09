/* fixed: UnsafePublication */
public class UnsafePublicationFixed {
    static class Catalogue {
        private String[] entries;

        void fill(String... names) {
            entries = names;
        }

        String first() {
            return entries[0];
        }
    }

    static class Holder {
        private volatile Catalogue current;

        void publish() {
            Catalogue made = new Catalogue();
            made.fill("atlas", "bible");
            current = made;
        }

        String read() {
            Catalogue seen = current;
            return seen == null ? "nothing yet" : seen.first();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Holder holder = new Holder();
        runBoth(holder::publish, holder::read);
        System.out.println(holder.read());
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
