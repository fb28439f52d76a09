/* fixed: BoxedTotal */
public class BoxedTotalFixed {
    static class Till {
        private Integer total = 0;

        synchronized Integer total() {
            return total;
        }

        synchronized void set(Integer total) {
            this.total = total;
        }

        synchronized void add(int amount) {
            total += amount;
        }
    }

    static class Cashier {
        void pay(Till till, int amount) {
            till.add(amount);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Till till = new Till();
        runBoth(() -> new Cashier().pay(till, 1000), () -> new Cashier().pay(till, 300));
        System.out.println("closed");
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
