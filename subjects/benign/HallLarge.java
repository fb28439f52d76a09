/* silent
 * Tasks of a pool look whether a seat is left and then take it, in a hall that has more seats than there are tasks: the look never decides anything. How many
 * seats are left when two tasks meet differs from run to run, since others take theirs before.
 */
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class HallLarge {
    static final int SEATS = 1000;
    static final int BUYERS = 160;

    static class Hall {
        private int left = SEATS;

        synchronized int left() {
            return left;
        }

        synchronized void take() {
            left--;
        }

        void sell() {
            if (left() > 0) {
                take();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Hall hall = new Hall();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        Random random = new Random();
        for (int i = 0; i < BUYERS; i++) {
            pool.execute(hall::sell);
            if (i % 4 == 0) {
                Thread.sleep(random.nextInt(5));
            }
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println("seats left: " + hall.left());
        System.exit(hall.left() == SEATS - BUYERS ? 0 : 1);
    }
}
