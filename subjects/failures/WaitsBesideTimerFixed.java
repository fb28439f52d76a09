/* fixed: WaitsBesideTimer */
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class WaitsBesideTimerFixed {
    private boolean ready;
    private int turns;

    synchronized void count() {
        turns++;
        ready = true;
        notifyAll();
    }

    synchronized void await() throws InterruptedException {
        while (!ready) {
            wait();
        }
        turns++;
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsBesideTimerFixed gate = new WaitsBesideTimerFixed();
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
        timer.cancel();
        pool.shutdown();
        System.out.println("done");
    }
}
