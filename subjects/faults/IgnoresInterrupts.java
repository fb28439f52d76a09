/* fault:
 *   exit 0
 *   output exact
 * about: two threads that swallow every interrupt and go on with their loop; they end after half a second
 */
public class IgnoresInterrupts {
    static class Stubborn extends Thread {
        private long rounds;
        private int swallowed;

        @Override
        public void run() {
            long end = System.nanoTime() + 500_000_000L;
            while (System.nanoTime() < end) {
                synchronized (this) {
                    rounds++;
                }
                try {
                    Thread.sleep(5);
                } catch (InterruptedException e) {
                    swallowed++;
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stubborn[] threads = {new Stubborn(), new Stubborn()};
        for (Stubborn thread : threads) {
            thread.start();
        }
        for (int i = 0; i < 20; i++) {
            for (Stubborn thread : threads) {
                thread.interrupt();
            }
            Thread.sleep(10);
        }
        for (Stubborn thread : threads) {
            thread.join();
            System.out.println(thread.rounds > 0 && thread.swallowed > 0);
        }
    }
}
