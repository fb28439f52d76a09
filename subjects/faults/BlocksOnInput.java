/* fault:
 *   exit killed
 *   stdin open
 *   output exact
 * about: reads standard input that never comes, in main, while another thread waits for main's answer; with input
 *   at its end it prints "end of input" and exits 0
 */
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

public class BlocksOnInput {
    static int answer;

    public static void main(String[] args) throws IOException, InterruptedException {
        CountDownLatch answered = new CountDownLatch(1);
        Thread t1 = new Thread(() -> {
            try {
                answered.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            System.out.println("answer " + answer);
        }, "t1");
        t1.start();
        System.out.println("question");
        int read = System.in.read();
        answer = read;
        answered.countDown();
        t1.join();
        if (read == -1) {
            System.out.println("end of input");
        }
    }
}
