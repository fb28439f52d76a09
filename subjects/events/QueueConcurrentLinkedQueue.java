/* expect:
 *   thread main, t1, t2
 *   write|update ConcurrentLinkedQueue.* == 2 by t1
 *   write|update ConcurrentLinkedQueue.* == 2 by t2
 *   read ConcurrentLinkedQueue.* >= 2 by t2
 *   read Parcel.content == 2 by t2
 * about: offers, polls with and without success, and a peek; the parcels are handed over
 */
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

public class QueueConcurrentLinkedQueue {
    static class Parcel {
        int content;

        Parcel(int content) {
            this.content = content;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Queue<Parcel> queue = new ConcurrentLinkedQueue<>();
        int[] sum = new int[1];
        Thread t1 = new Thread(() -> {
            queue.offer(new Parcel(1));
            queue.add(new Parcel(2));
        }, "t1");
        t1.start();
        t1.join();
        Thread t2 = new Thread(() -> {
            if (queue.peek() == null) {
                return;
            }
            sum[0] += queue.poll().content;
            sum[0] += queue.poll().content;
            if (queue.poll() != null) {
                sum[0] = -1;
            }
        }, "t2");
        t2.start();
        t2.join();
        System.out.println(sum[0] + " " + queue.isEmpty());
    }
}
