/* expect:
 *   thread main, t1, t2
 *   write|update ArrayBlockingQueue.* == 3 by t1
 *   write|update ArrayBlockingQueue.* == 3 by t2
 *   write Parcel.content == 0 by t1
 *   read Parcel.content == 3 by t2
 *   read ArrayBlockingQueue.* >= 1 by main
 * about: t1 puts, offers and adds, t2 takes and polls: each hands a parcel over; main looks at the size
 */
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

public class QueueArrayBlockingQueue {
    static class Parcel {
        int content;

        Parcel(int content) {
            this.content = content;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<Parcel> queue = new ArrayBlockingQueue<>(4);
        int[] sum = new int[1];
        Thread t1 = new Thread(() -> {
            try {
                queue.put(new Parcel(1));
                queue.offer(new Parcel(2));
                queue.add(new Parcel(3));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        Thread t2 = new Thread(() -> {
            try {
                sum[0] += queue.take().content;
                sum[0] += queue.poll(10, TimeUnit.SECONDS).content;
                sum[0] += queue.take().content;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t2");
        t1.start();
        t1.join();
        t2.start();
        t2.join();
        System.out.println(sum[0] + " " + queue.size() + " " + queue.poll());
    }
}
