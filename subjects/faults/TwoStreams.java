/* fault:
 *   exit 0
 *   output exact
 * about: lines to standard output and standard error in turn by two threads, a line without an end, bytes that
 *   are no text
 */
import java.io.PrintStream;

public class TwoStreams {
    static final Object TURN = new Object();
    static int turn;

    static void speak(int me, PrintStream stream) {
        for (int i = 0; i < 20; i++) {
            synchronized (TURN) {
                while (turn != me) {
                    try {
                        TURN.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                stream.println("line " + i + " of " + me);
                stream.flush();
                turn = 1 - me;
                TURN.notifyAll();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(() -> speak(0, System.out), "t1");
        Thread t2 = new Thread(() -> speak(1, System.err), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.write(new byte[] {0, (byte) 0xFF, (byte) 0xFE, 10}, 0, 4);
        System.err.print("no end of line");
        System.out.print("no end of line");
        System.out.flush();
    }
}
