/* expect:
 *   thread main, worker-0, worker-1
 *   fork worker-0 == 1 by main
 *   fork worker-1 == 1 by main
 *   join worker-0 == 1 by main
 *   join worker-1 == 1 by main
 *   write Worker.result == 1 by worker-0
 *   write Worker.result == 1 by worker-1
 *   read Worker.result == 2 by main
 * about: subclasses of Thread with fields of their own
 */
public class ThreadSubclass {
    static class Worker extends Thread {
        final int number;
        int result;

        Worker(int number) {
            super("worker-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            result = number + 5;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Worker[] workers = {new Worker(0), new Worker(1)};
        for (Worker worker : workers) {
            worker.result = -1;
            worker.start();
        }
        int sum = 0;
        for (Worker worker : workers) {
            worker.join();
            sum += worker.result;
        }
        System.out.println(sum);
    }
}
