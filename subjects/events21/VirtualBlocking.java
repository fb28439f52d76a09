/* expect:
 *   thread main, taker, giver
 *   write|update LinkedBlockingQueue.* == 1 by taker
 *   wait Gate >= 1 by taker
 *   notify-all Gate == 1 by giver
 *   read Parcel.content == 1 by taker
 * about: virtual threads that block on a queue, wait on a monitor (pinned before 24), park, and are interrupted
 */
import java.util.concurrent.LinkedBlockingQueue;

public class VirtualBlocking {
    static class Parcel {
        int content;
    }

    static class Gate {
        boolean waiting;
        boolean open;

        synchronized void pass() throws InterruptedException {
            waiting = true;
            while (!open) {
                wait();
            }
        }

        synchronized boolean lift() {
            if (!waiting) {
                return false;
            }
            open = true;
            notifyAll();
            return true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        LinkedBlockingQueue<Parcel> queue = new LinkedBlockingQueue<>();
        Gate gate = new Gate();
        Thread taker = Thread.ofVirtual().name("taker").start(() -> {
            try {
                System.out.println(queue.take().content);
                gate.pass();
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                System.out.println("interrupted");
            }
        });
        Thread giver = Thread.ofVirtual().name("giver").start(() -> {
            Parcel parcel = new Parcel();
            parcel.content = 3;
            queue.add(parcel);
            try {
                while (!gate.lift()) {
                    Thread.sleep(1);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        giver.join();
        taker.interrupt();
        taker.join();
    }
}
