/** Two threads that write so many shared fields that the analysis takes a while. */
public class ManyEvents {
    static final int[] cells = new int[64];
    static final Object lock = new Object();

    static void work() {
        for (int round = 0; round < 20_000; round++) {
            for (int cell = 0; cell < cells.length; cell++) {
                cells[cell] += round;
            }
            synchronized (lock) {
                cells[0]++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(ManyEvents::work, "t1");
        Thread t2 = new Thread(ManyEvents::work, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }
}
