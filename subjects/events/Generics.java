/* expect:
 *   thread main, t1
 *   write Pair.left == 1 by t1
 *   read Pair.left == 1 by main
 *   acquire IntPair == 1 by t1
 *   enter IntPair.setLeft >= 1 by t1
 * about: bridge methods and type variables
 */
public class Generics {
    static class Pair<A, B> {
        A left;
        B right;

        void setLeft(A value) {
            left = value;
        }
    }

    static class IntPair extends Pair<Integer, String> {
        @Override
        synchronized void setLeft(Integer value) {
            super.setLeft(value + 1);
        }
    }

    static <T> void assign(Pair<T, ?> pair, T value) {
        pair.setLeft(value);
    }

    public static void main(String[] args) throws InterruptedException {
        IntPair pair = new IntPair();
        assign(pair, 1);
        Thread t1 = new Thread(() -> assign(pair, 5), "t1");
        t1.start();
        t1.join();
        System.out.println(pair.left);
    }
}
