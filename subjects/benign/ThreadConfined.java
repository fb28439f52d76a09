/* silent
 * Every thread has its own object, made by itself or kept in a ThreadLocal.
 */
import java.util.ArrayList;
import java.util.List;

public class ThreadConfined {
    static class Scratch {
        private final List<Integer> numbers = new ArrayList<>();
        private int sum;

        void add(int number) {
            numbers.add(number);
            sum += number;
        }

        int sum() {
            return sum + numbers.size();
        }
    }

    static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    static int work(int base) {
        Scratch own = new Scratch();
        for (int i = 0; i < 5; i++) {
            own.add(base + i);
            SCRATCH.get().add(i);
        }
        return own.sum() + SCRATCH.get().sum();
    }

    public static void main(String[] args) throws InterruptedException {
        int[] sums = new int[2];
        Thread t1 = new Thread(() -> sums[0] = work(1), "t1");
        Thread t2 = new Thread(() -> sums[1] = work(2), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(sums[0] + " " + sums[1]);
    }
}
