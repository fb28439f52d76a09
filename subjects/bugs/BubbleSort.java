/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Sorter.numbers | int[]
 *   evidence harmful
 *   outcome exit | value
 * about: Two threads make bubble passes over the same array without a lock. Two swaps of overlapping pairs,
 *   interleaved, write one number twice and lose another.
 */
public class BubbleSort {
    static class Sorter {
        private final int[] numbers;

        Sorter(int[] numbers) {
            this.numbers = numbers;
        }

        void pass() {
            for (int i = 0; i + 1 < numbers.length; i++) {
                exchange(i, i + 1);
            }
        }

        void exchange(int i, int j) {
            int left = numbers[i];
            int right = numbers[j];
            if (left > right) {
                numbers[i] = right;
                numbers[j] = left;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int[] numbers = {5, 3, 2};
        Sorter sorter = new Sorter(numbers);
        runBoth(sorter::pass, sorter::pass);
        int sum = numbers[0] + numbers[1] + numbers[2];
        System.out.println(java.util.Arrays.toString(numbers));
        if (sum != 10) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
