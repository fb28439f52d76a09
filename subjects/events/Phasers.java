/* expect:
 *   thread main, t1, t2
 *   send Phaser >= 2 by t1
 *   receive Phaser >= 1 by t1
 *   send Phaser >= 2 by t2
 *   receive Phaser >= 1 by t2
 *   write int[] == 1 by t1
 *   write int[] == 1 by t2
 *   read int[] >= 1 by t1
 * about: arriveAndAwaitAdvance, arriveAndDeregister, awaitAdvance
 */
import java.util.concurrent.Phaser;

public class Phasers {
    static final int[] cells = new int[2];

    public static void main(String[] args) throws InterruptedException {
        cells[0] = -1;
        Phaser phaser = new Phaser(2);
        Thread t1 = new Thread(() -> work(phaser, 0), "t1");
        Thread t2 = new Thread(() -> work(phaser, 1), "t2");
        t1.start();
        t2.start();
        phaser.awaitAdvance(0);
        System.out.println(cells[0] + cells[1]);
        t1.join();
        t2.join();
        System.out.println(phaser.isTerminated());
    }

    static void work(Phaser phaser, int me) {
        cells[me] = 1 + me;
        phaser.arriveAndAwaitAdvance();
        if (cells[1 - me] != 2 - me) {
            System.out.println("wrong");
        }
        phaser.arriveAndDeregister();
    }
}
