/* silent
 * What was written before start is read in the thread, what the thread wrote is read after join; no lock is needed.
 */
public class StartJoin {
    static class Part extends Thread {
        private final int[] numbers;
        private final int from;
        private final int to;
        private long sum;

        Part(int[] numbers, int from, int to) {
            this.numbers = numbers;
            this.from = from;
            this.to = to;
        }

        @Override
        public void run() {
            for (int i = from; i < to; i++) {
                sum += numbers[i];
                numbers[i] = 0;
            }
        }

        long sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int[] numbers = new int[100];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
        }
        Part left = new Part(numbers, 0, 50);
        Part right = new Part(numbers, 50, 100);
        left.start();
        right.start();
        left.join();
        right.join();
        System.out.println(left.sum() + right.sum() + " " + numbers[99]);
    }
}
