/* fixed: HallSells */
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class HallSellsFixed {
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

        synchronized void sell() {
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
