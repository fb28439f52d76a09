/* fault:
 *   exit 0
 *   output exact
 * about: daemon threads that write shared memory as fast as they can are still at it when main returns
 */
import java.util.concurrent.CountDownLatch;

public class DaemonsAtExit {
    static class Board {
        int[] cells = new int[64];
        long total;
        volatile int round;

        void scribble(int seed) {
            for (int i = seed; ; i++) {
                cells[i & 63] = i;
                total += cells[i * 7 & 63];
                if ((i & 1023) == 0) {
                    round = i;
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Board board = new Board();
        CountDownLatch began = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            int seed = i;
            Thread daemon = new Thread(() -> {
                began.countDown();
                board.scribble(seed);
            }, "daemon-" + i);
            daemon.setDaemon(true);
            daemon.start();
        }
        began.await();
        Thread.sleep(50);
        System.out.println("main returns");
    }
}
