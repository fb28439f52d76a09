/* silent
 * A thread's own loop reads a volatile stop flag again and again while another thread sets it once.
 */
public class StopFlag {
    static class Worker implements Runnable {
        private volatile boolean stopped;
        private long rounds;

        void stop() {
            stopped = true;
        }

        @Override
        public void run() {
            while (!stopped) {
                rounds++;
                pause();
                if (stopped) {
                    break;
                }
                pause();
            }
        }

        private static void pause() {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        boolean worked() {
            return rounds > 0;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Worker worker = new Worker();
        Thread thread = new Thread(worker, "worker");
        thread.start();
        Thread.sleep(30);
        worker.stop();
        thread.join();
        System.out.println(worker.worked());
    }
}
