/* expect:
 *   thread main
 *   read long[] >= 1
 *   receive >= 1 by main
 *   send >= 1 by main
 * about: a recursive sum in a pool of the program's own; the cells were written by main before
 */
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

public class ForkJoin {
    static class Sum extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final transient long[] cells;
        private final int from;
        private final int to;

        Sum(long[] cells, int from, int to) {
            this.cells = cells;
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from <= 8) {
                long sum = 0;
                for (int i = from; i < to; i++) {
                    sum += cells[i];
                }
                return sum;
            }
            int middle = (from + to) >>> 1;
            Sum left = new Sum(cells, from, middle);
            Sum right = new Sum(cells, middle, to);
            left.fork();
            return right.compute() + left.join();
        }
    }

    public static void main(String[] args) {
        long[] cells = new long[64];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = i;
        }
        ForkJoinPool pool = new ForkJoinPool(2);
        System.out.println(pool.invoke(new Sum(cells, 0, cells.length)));
        pool.shutdown();
    }
}
