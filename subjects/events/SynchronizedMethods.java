/* expect:
 *   thread main, t1
 *   acquire Counter == 2 by t1
 *   release Counter == 2 by t1
 *   read Counter.value == 2 by t1
 *   write Counter.value == 1 by t1
 *   acquire Class == 1 by t1
 *   release Class == 1 by t1
 *   write Counter.total == 1 by t1
 *   acquire Counter >= 1 by main
 *   enter Counter.add == 1 by t1
 *   exit Counter.add == 1 by t1
 * about: synchronized instance and static methods; main made the objects and locked the class once before
 */
public class SynchronizedMethods {
    static class Counter {
        private int value;
        static int total;

        synchronized void add() {
            value++;
        }

        synchronized int get() {
            return value;
        }

        static synchronized void addTotal(int amount) {
            total = amount;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Counter counter = new Counter();
        counter.add();
        Counter.addTotal(1);
        Thread t1 = new Thread(() -> {
            counter.add();
            counter.get();
            Counter.addTotal(2);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(counter.get());
    }
}
