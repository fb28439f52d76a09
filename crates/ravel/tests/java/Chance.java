import java.security.SecureRandom;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A lost update by threads whose way depends on chance and on time; prints all that it saw of either. */
public class Chance {
    static final AtomicInteger value = new AtomicInteger();
    static int spins;

    static synchronized void spin() {
        spins++;
    }

    static String look(int part) throws Exception {
        Object lock = new Object();
        String seen = part + " random " + new Random().nextLong() + " " + Math.random();
        seen += " " + ThreadLocalRandom.current().nextLong() + " " + new SplittableRandom().nextLong();
        long start = System.nanoTime();
        long wall = System.currentTimeMillis();
        while (System.nanoTime() < start + 3_000_000) spin();
        Thread.sleep(20);
        TimeUnit.MILLISECONDS.sleep(20);
        long end = System.currentTimeMillis() + 40;
        synchronized (lock) {
            for (long left = 40; left > 0; left = end - System.currentTimeMillis()) lock.wait(left);
        }
        new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
        return seen + "\n" + part + " time " + wall + " " + System.currentTimeMillis() + " " + (System.nanoTime() - start)
            + " " + new java.util.Date().getTime() + " " + java.time.Instant.now();
    }

    public static void main(String[] args) throws Exception {
        // Initialises classes of the JDK before threads do it in some order.
        double warm = new Random().nextDouble() + Math.random();
        if (warm < 0) throw new AssertionError();
        String[] seen = new String[2];
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int part = i;
            threads[i] = new Thread(() -> {
                try {
                    if (args[0].equals("look")) seen[part] = look(part);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                add();
            }, "t" + i);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        for (String line : seen) System.out.println(line);
        System.out.println("spins " + spins);
        if (args[0].equals("add")) System.out.println("value " + value.get());
        if (args[0].equals("secure")) System.out.println("secure " + new SecureRandom().nextLong());
    }

    /** Comes to the update after as many points as chance wants. */
    static void add() {
        for (int i = new Random().nextInt(200); i > 0; i--) spin();
        for (double end = System.nanoTime() + 50_000 * Math.random(); System.nanoTime() < end; ) spin();
        int before = value.get();
        value.set(before + 1);
    }
}
