import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A small server that is running when Ravel comes: `Served PART` says "ready" and works until its standard input ends, at most two
 * minutes. It then says what it has counted, and ends with 7.
 */
public class Served {
    static volatile boolean stopped;
    static final long END = System.nanoTime() + 120_000_000_000L;

    /** The loops ask here, so that they have no step of their own that orders threads. */
    static boolean runs() {
        return !stopped && System.nanoTime() < END;
    }

    static boolean hasCounted(Counter counter, String part) {
        return counter.count > 0 || Flagged.value > 0 || part.equals("passes");
    }

    static void stop() {
        stopped = true;
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static class Counter {
        int count;

        void add() {
            count++;
        }
    }

    static class SafeCounter extends Counter {
        synchronized void add() {
            count++;
        }
    }

    /** Two threads add to one counter. */
    static void adds(Counter counter, Thread[] threads) {
        Runnable task = () -> {
            while (runs()) {
                counter.add();
                nap(1);
            }
        };
        for (int i = 0; i < threads.length; i++) threads[i] = new Thread(task, "adder-" + i);
    }

    /** One thread is inside a synchronized block and calls methods there, over and over; the other takes the lock properly. */
    static void holds(Counter counter, Thread[] threads) {
        Object lock = new Object();
        threads[0] = new Thread(() -> {
            while (runs()) {
                synchronized (lock) {
                    for (int i = 0; i < 50; i++) {
                        counter.add();
                        nap(10);
                    }
                }
                nap(3);
            }
        }, "holder");
        threads[1] = new Thread(() -> {
            while (runs()) addLocked(counter, lock);
        }, "other");
    }

    static void addLocked(Counter counter, Object lock) {
        synchronized (lock) {
            counter.add();
        }
        nap(1);
    }

    /** The same with an explicit lock: taken before Ravel comes, given up after. */
    static void holdsExplicit(Counter counter, Thread[] threads) {
        ReentrantLock lock = new ReentrantLock();
        threads[0] = new Thread(() -> {
            while (runs()) {
                lock.lock();
                try {
                    for (int i = 0; i < 50; i++) {
                        counter.add();
                        nap(10);
                    }
                } finally {
                    lock.unlock();
                }
                nap(3);
            }
        }, "holder");
        threads[1] = new Thread(() -> {
            while (runs()) {
                lock.lock();
                try {
                    counter.add();
                } finally {
                    lock.unlock();
                }
                nap(1);
            }
        }, "other");
    }

    static class Message {
        int text;
    }

    /** Workers wait in a queue of the JDK, and in a queue of their own with wait and notify; messages are made by one thread and read by another. */
    static void passes(Counter counter, Thread[] threads) {
        BlockingQueue<Message> queue = new LinkedBlockingQueue<>();
        Mailbox mailbox = new Mailbox();
        threads[0] = new Thread(() -> {
            while (runs()) {
                nap(250);
                send(queue, mailbox);
            }
            queue.add(new Message());
            mailbox.put(new Message());
        }, "producer");
        threads[1] = new Thread(() -> {
            while (runs()) read(take(queue));
        }, "taker");
        threads[2] = new Thread(() -> {
            while (runs()) read(mailbox.get());
        }, "getter");
    }

    static void send(BlockingQueue<Message> queue, Mailbox mailbox) {
        Message one = new Message();
        one.text = 5;
        queue.add(one);
        Message other = new Message();
        other.text = 6;
        mailbox.put(other);
    }

    static Message take(BlockingQueue<Message> queue) {
        try {
            return queue.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void read(Message message) {
        message.text++;
    }

    static class Mailbox {
        private final List<Message> messages = new ArrayList<>();

        synchronized void put(Message message) {
            messages.add(message);
            notifyAll();
        }

        synchronized Message get() {
            while (messages.isEmpty()) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return messages.remove(0);
        }
    }

    /** A pool whose workers were idle, or busy, when Ravel came. */
    static void pools(Counter counter, Thread[] threads) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) pool.execute(() -> nap(1));
        threads[0] = new Thread(() -> {
            while (runs()) {
                nap(5);
                pool.execute(counter::add);
                pool.execute(() -> counter.add());
            }
            pool.shutdown();
            try {
                pool.awaitTermination(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "submitter");
    }

    /** A thread that looks at a volatile field in its own loop and writes what others read. */
    static class Flagged extends Thread {
        static volatile int turn;
        static int value;

        final int me;

        Flagged(int me) {
            super("flagged-" + me);
            this.me = me;
        }

        @Override
        public void run() {
            while (runs()) {
                if (turn == me) {
                    use();
                    turn = 1 - me;
                }
                nap(1);
            }
        }

        void use() {
            value++;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[3];
        Counter counter = new Counter();
        switch (args[0]) {
            case "race" -> adds(counter, threads);
            case "safe" -> adds(counter = new SafeCounter(), threads);
            case "holds" -> holds(counter, threads);
            case "explicit" -> holdsExplicit(counter, threads);
            case "passes" -> passes(counter, threads);
            case "pool-race" -> pools(counter, threads);
            case "pool-safe" -> pools(counter = new SafeCounter(), threads);
            case "flags" -> {
                threads[0] = new Flagged(0);
                threads[1] = new Flagged(1);
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
        for (Thread thread : threads) {
            if (thread != null) thread.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0 && runs()) {}
        stop();
        for (Thread thread : threads) {
            if (thread != null) thread.join();
        }
        System.out.println("counted " + hasCounted(counter, args[0]));
        System.exit(7);
    }
}
