/* expect:
 *   thread main, t1, t2, t3
 *   fork t1 == 1 by main
 *   fork t2 == 1 by main
 *   fork t3 == 1 by t1
 *   begin == 1 by t3
 *   end == 1 by t3
 *   join t1 == 1 by main
 *   join t2 == 1 by main
 *   join t3 == 1 by t1
 *   write Sum.value == 1 by t1
 *   write Sum.value == 1 by t2
 *   write Sum.value == 1 by t3
 * about: threads that start threads; t3 is the child of t1
 */
public class StartJoin {
    static class Sum {
        int value;

        synchronized void add(int amount) {
            value += amount;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Sum sum = new Sum();
        sum.value = 0;
        Thread t1 = new Thread(() -> {
            Thread t3 = new Thread(() -> sum.add(100), "t3");
            t3.start();
            try {
                t3.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            sum.add(1);
        }, "t1");
        Thread t2 = new Thread(() -> sum.add(10), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(sum.value);
    }
}
