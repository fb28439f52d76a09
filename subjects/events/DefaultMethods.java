/* expect:
 *   thread main, t1
 *   write Impl.count == 2 by t1
 *   acquire Impl == 1 by t1
 *   enter Counting.twice == 1 by t1
 *   enter Impl.bump == 2 by t1
 * about: default, static and private interface methods; a default method that locks this
 */
public class DefaultMethods {
    interface Counting {
        int START = Integer.parseInt("3");

        void bump(int by);

        default void twice() {
            synchronized (this) {
                for (int i = 0; i < 2; i++) {
                    bump(one());
                }
            }
        }

        private int one() {
            return unit() + 0;
        }

        static int unit() {
            return 1;
        }
    }

    static class Impl implements Counting {
        int count = START;

        @Override
        public void bump(int by) {
            count += by;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Impl impl = new Impl();
        impl.twice();
        Thread t1 = new Thread(impl::twice, "t1");
        t1.start();
        t1.join();
        System.out.println(impl.count);
    }
}
