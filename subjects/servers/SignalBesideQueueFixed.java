/* fixed: SignalBesideQueue
 * about: The worker looks at the queue again once it has the lock.
 */
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;

public class SignalBesideQueueFixed {
    private static final int JOBS = 300;

    static class Desk {
        final ConcurrentLinkedQueue<Integer> jobs = new ConcurrentLinkedQueue<>();
        final Object bell = new Object();

        void put(int job) {
            jobs.add(job);
            synchronized (bell) {
                bell.notifyAll();
            }
        }

        int take() throws InterruptedException {
            Integer job = jobs.poll();
            while (job == null) {
                synchronized (bell) {
                    job = jobs.poll();
                    while (job == null) {
                        bell.wait();
                        job = jobs.poll();
                    }
                }
            }
            return job;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Desk desk = new Desk();
        Thread worker = new Thread(() -> work(desk), "worker");
        worker.setDaemon(true);
        worker.start();
        Random random = new Random();
        for (int i = 0; i < JOBS; i++) {
            desk.put(i);
            if (i % 10 == 9) {
                Thread.sleep(2 + random.nextInt(8));
            }
        }
        worker.join(1_000);
        boolean done = !worker.isAlive();
        System.out.println(done ? "all jobs are done" : "the worker sleeps");
        System.exit(done ? 0 : 1);
    }

    private static void work(Desk desk) {
        try {
            for (int i = 0; i < JOBS; i++) {
                desk.take();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
