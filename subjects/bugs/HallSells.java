/* bug:
 *   rule atomicity | atomic-set | unserializable
 *   variable Hall.left
 *   evidence harmful
 *   outcome exit
 * about: A hundred and sixty tasks of a pool each look whether a seat is left and then take it. Between the two another one may take a seat, which does harm
 *   at the last seat alone: where the pattern is forced first there are many, and all threads of the pool go on.
 */
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class HallSells {
    static final int SEATS = 120;
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
        System.exit(hall.left() == 0 ? 0 : 1);
    }
}
