/* silent
 * Two locks are taken in both orders, but always under a third: nobody can wait for anybody.
 */
public class GateLock {
    static class Side {
        private int value;

        synchronized void add(int amount) {
            value += amount;
        }

        synchronized int value() {
            return value;
        }
    }

    static class Pair {
        private final Side left = new Side();
        private final Side right = new Side();

        synchronized void leftFirst() {
            synchronized (left) {
                right.add(1);
            }
        }

        synchronized void rightFirst() {
            synchronized (right) {
                left.add(10);
            }
        }

        synchronized int sum() {
            return left.value() + right.value();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Pair pair = new Pair();
        Thread t1 = new Thread(pair::leftFirst, "t1");
        Thread t2 = new Thread(pair::rightFirst, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(pair.sum());
    }
}
