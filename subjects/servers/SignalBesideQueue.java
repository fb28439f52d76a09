/* bug:
 *   rule naked-notify
 *   evidence harmful
 * about: The worker finds the queue empty, and a job and its signal come before the worker waits: it sleeps beside a full queue. What is waited for lies
 *   in a queue without locks, so that no access is unordered.
 */
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

public class SignalBesideQueue {
    private static final int JOBS = 400;

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
                    bell.wait();
                }
                job = jobs.poll();
            }
            return job;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Desk desk = new Desk();
        Semaphore done = new Semaphore(0);
        Thread worker = new Thread(() -> work(desk, done), "worker");
        worker.setDaemon(true);
        worker.start();
        Random random = new Random();
        boolean all = true;
        for (int i = 0; i < JOBS && all; i++) {
            desk.put(i);
            all = done.tryAcquire(1, TimeUnit.SECONDS);
            // The worker mostly waits when the next job comes.
            Thread.sleep(1 + random.nextInt(2));
        }
        System.out.println(all ? "all jobs are done" : "the worker sleeps");
        System.exit(all ? 0 : 1);
    }

    private static void work(Desk desk, Semaphore done) {
        try {
            for (int i = 0; i < JOBS; i++) {
                desk.take();
                done.release();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
