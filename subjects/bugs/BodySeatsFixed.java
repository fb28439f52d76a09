/* fixed: BodySeats */
public class BodySeatsFixed {
    static class Plan {
        private int next;
        private int sold;

        synchronized int find() {
            return next < 3 ? next : -1;
        }

        synchronized void take(int seat) {
            next = seat + 1;
            sold++;
        }

        synchronized boolean isRight() {
            return next == sold;
        }
    }

    static class Clerk implements Runnable {
        private final Plan plan;

        Clerk(Plan plan) {
            this.plan = plan;
        }

        @Override
        public void run() {
            synchronized (plan) {
                int seat = plan.find();
                if (seat >= 0) {
                    plan.take(seat);
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Plan plan = new Plan();
        runBoth(new Clerk(plan), new Clerk(plan));
        System.out.println(plan.isRight() ? "a seat each" : "one seat twice");
        if (!plan.isRight()) {
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
