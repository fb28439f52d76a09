/* failure:
 *   rule failure
 *   outcome hang
 *   place WaitsBesideTimer.java:24
 * about: as WaitsForNothing, with a timer and a pool around that have nothing more to do
 */
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class WaitsBesideTimer {
    private boolean ready;
    private int turns;

    synchronized void count() {
        turns++;
        notifyAll();
    }

    synchronized void await() throws InterruptedException {
        while (!ready) {
            // The timer has run its only task, and the pool is idle.
            wait();
        }
        turns++;
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsBesideTimer gate = new WaitsBesideTimer();
        Timer timer = new Timer("timer");
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                gate.count();
            }
        }, 50);
        ExecutorService pool = Executors.newCachedThreadPool();
        pool.execute(gate::count);
        gate.await();
        System.out.println("never reached");
    }
}
