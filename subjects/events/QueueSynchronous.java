/* expect:
 *   thread main, t1, t2
 *   write|update|send SynchronousQueue|SynchronousQueue.* >= 1 by t1
 *   write|update|receive SynchronousQueue|SynchronousQueue.* >= 1 by t2
 *   read Parcel.content == 1 by t2
 * about: a rendezvous; whether it is seen as state or as a pair of halves is left open
 */
import java.util.concurrent.SynchronousQueue;

public class QueueSynchronous {
    static class Parcel {
        int content;
    }

    public static void main(String[] args) throws InterruptedException {
        SynchronousQueue<Parcel> queue = new SynchronousQueue<>();
        Thread t1 = new Thread(() -> {
            Parcel parcel = new Parcel();
            parcel.content = 8;
            try {
                queue.put(parcel);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        Thread t2 = new Thread(() -> {
            try {
                System.out.println(queue.take().content);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }
}
