/* bug:
 *   rule atomicity | atomic-set
 *   variable Mailbox.* | Object[]
 *   evidence harmful
 *   outcome exit | value
 * about: put and clear of a blocking queue are synchronized; addAll puts one message after the other, so a clear in
 *   the middle of it leaves half a batch.
 */
public class QueueAddAll {
    static class Mailbox {
        private final String[] messages = new String[8];
        private int count;

        synchronized void put(String message) throws InterruptedException {
            while (count == messages.length) {
                wait();
            }
            messages[count++] = message;
            notifyAll();
        }

        void addAll(String... batch) throws InterruptedException {
            for (String message : batch) {
                put(message);
            }
        }

        synchronized void clear() {
            count = 0;
            notifyAll();
        }

        synchronized int size() {
            return count;
        }
    }

    static void send(Mailbox mailbox) {
        try {
            mailbox.addAll("begin", "end");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Mailbox mailbox = new Mailbox();
        runBoth(() -> send(mailbox), mailbox::clear);
        int size = mailbox.size();
        System.out.println(size % 2 == 0 ? "whole batches" : "half a batch");
        if (size % 2 != 0) {
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
