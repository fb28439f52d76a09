/* fixed: SettersThree */
public class SettersThreeFixed {
    static class Limits {
        private int low;
        private int high;

        synchronized int low() {
            return low;
        }

        synchronized int high() {
            return high;
        }

        synchronized void low(int to) {
            low = to;
        }

        synchronized void high(int to) {
            high = to;
        }

        synchronized void set(int low, int high) {
            low(low);
            high(high);
        }

        synchronized boolean isEmpty() {
            return low() > high();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Limits limits = new Limits();
        boolean[] empty = new boolean[1];
        Thread t1 = new Thread(() -> limits.set(10, 19), "t1");
        Thread t2 = new Thread(() -> {
            nap(50);
            limits.set(20, 29);
        }, "t2");
        Thread t3 = new Thread(() -> {
            nap(100);
            limits.set(30, 39);
        }, "t3");
        Thread reader = new Thread(() -> {
            nap(150);
            empty[0] = limits.isEmpty();
        }, "reader");
        t1.start();
        t2.start();
        t3.start();
        reader.start();
        t1.join();
        t2.join();
        t3.join();
        reader.join();
        System.out.println("empty " + empty[0]);
        if (empty[0]) {
            System.exit(1);
        }
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
