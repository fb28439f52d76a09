/* expect:
 *   thread main, t1
 *   write|update DelayQueue.* == 1 by t1
 *   read Job.done == 0 by t1
 *   write Job.done == 1 by t1
 * about: a job becomes due after some milliseconds and is taken by t1
 */
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

public class QueueDelay {
    static class Job implements Delayed {
        private final long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10);
        boolean done;

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(due, ((Job) other).due);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        DelayQueue<Job> queue = new DelayQueue<>();
        Job job = new Job();
        queue.add(job);
        Thread t1 = new Thread(() -> {
            try {
                queue.take().done = true;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(job.done + " " + queue.size());
    }
}
