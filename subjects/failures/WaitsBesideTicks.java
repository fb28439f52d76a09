/* missed
 * As WaitsForNothing, with a timer that ticks: whether a tick will wake the thread some day cannot be told from outside. The run is
 * ended after --run-limit.
 */
import java.util.Timer;
import java.util.TimerTask;

public class WaitsBesideTicks {
    private boolean ready;
    private int turns;

    synchronized void tick() {
        turns++;
    }

    synchronized void await() throws InterruptedException {
        while (!ready) {
            wait();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsBesideTicks gate = new WaitsBesideTicks();
        new Timer("ticker", true).schedule(new TimerTask() {
            @Override
            public void run() {
                gate.tick();
            }
        }, 50, 50);
        gate.await();
    }
}
