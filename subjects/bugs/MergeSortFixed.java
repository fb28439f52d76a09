/* fixed: MergeSort */
import java.util.Arrays;

public class MergeSortFixed {
    static class Helpers {
        private final int limit;
        private int active;
        private int most;

        Helpers(int limit) {
            this.limit = limit;
        }

        synchronized boolean take() {
            if (active >= limit) {
                return false;
            }
            active++;
            if (active > most) {
                most = active;
            }
            return true;
        }

        synchronized void giveBack() {
            active--;
        }

        synchronized int most() {
            return most;
        }

        synchronized int active() {
            return active;
        }
    }

    static void sort(int[] numbers, int from, int to, Helpers helpers) {
        if (to - from < 2) {
            return;
        }
        int middle = (from + to) >>> 1;
        sort(numbers, from, middle, helpers);
        sort(numbers, middle, to, helpers);
        int[] copy = Arrays.copyOfRange(numbers, from, to);
        int left = 0;
        int right = middle - from;
        for (int i = from; i < to; i++) {
            boolean takeLeft = right >= to - from || left < middle - from && copy[left] <= copy[right];
            numbers[i] = takeLeft ? copy[left++] : copy[right++];
        }
    }

    static void sortHalf(int[] numbers, int from, int to, Helpers helpers) {
        boolean helped = helpers.take();
        sort(numbers, from, to, helpers);
        if (helped) {
            helpers.giveBack();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int[] numbers = {4, 1, 3, 2, 8, 6, 7, 5};
        Helpers helpers = new Helpers(1);
        runBoth(() -> sortHalf(numbers, 0, 4, helpers), () -> sortHalf(numbers, 4, 8, helpers));
        System.out.println(Arrays.toString(numbers) + ", helpers: " + helpers.most() + ", left " + helpers.active());
        if (helpers.most() > 1 || helpers.active() != 0) {
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
