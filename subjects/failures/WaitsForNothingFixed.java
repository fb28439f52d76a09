/* fixed: WaitsForNothing */
public class WaitsForNothingFixed {
    private boolean ready;
    private int turns;

    synchronized void announce() {
        ready = true;
        turns++;
        notifyAll();
    }

    synchronized void await() throws InterruptedException {
        while (!ready) {
            wait();
        }
        turns++;
    }

    public static void main(String[] args) throws InterruptedException {
        WaitsForNothingFixed gate = new WaitsForNothingFixed();
        Thread setter = new Thread(gate::announce, "setter");
        setter.start();
        gate.await();
        System.out.println("done");
    }
}
