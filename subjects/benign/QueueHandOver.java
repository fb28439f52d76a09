/* silent
 * Objects change hands through a blocking queue; each is changed by one thread at a time and needs no lock.
 */
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class QueueHandOver {
    static class Job {
        private int input;
        private int result;

        void fill(int value) {
            input = value;
            result = -1;
        }

        void work() {
            result = input * input;
        }

        int result() {
            return result;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<Job> todo = new ArrayBlockingQueue<>(2);
        BlockingQueue<Job> done = new ArrayBlockingQueue<>(2);
        Thread worker = new Thread(() -> {
            try {
                for (int i = 0; i < 5; i++) {
                    Job job = todo.take();
                    job.work();
                    done.put(job);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "worker");
        worker.start();
        int sum = 0;
        for (int i = 0; i < 5; i++) {
            Job job = new Job();
            job.fill(i);
            todo.put(job);
            Job back = done.take();
            sum += back.result();
            back.fill(0);
        }
        worker.join();
        System.out.println(sum);
    }
}
