/* fixed: CutShort */
public class CutShortFixed {
    static class Gauge {
        private int low;
        private int high;
        private int value;
        private Gauge next;

        /** Fails at the start, in the middle and at the end of rows of accesses, again and again. */
        int stumble() {
            int failures = 0;
            int[] cells = new int[4];
            for (int i = 0; i < 20; i++) {
                try {
                    low = high + next.low + high + low;
                } catch (NullPointerException e) {
                    failures++;
                }
                try {
                    cells[0] = cells[1] + cells[i % 3 + 2] + cells[3] + low;
                } catch (ArrayIndexOutOfBoundsException e) {
                    failures++;
                }
                try {
                    cells[i % 5] = low;
                } catch (ArrayIndexOutOfBoundsException e) {
                    failures++;
                }
            }
            return failures;
        }

        synchronized void add() {
            value++;
        }

        synchronized int get() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Gauge gauge = new Gauge();
        runBoth(() -> {
            new Gauge().stumble();
            gauge.add();
        }, () -> {
            new Gauge().stumble();
            gauge.add();
        });
        System.out.println("count " + gauge.get());
        if (gauge.get() != 2) {
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
