/* fixed: OnCall */
public class OnCallFixed {
    static class Duty {
        private boolean away;

        synchronized boolean isAway() {
            return away;
        }

        synchronized void leave() {
            away = true;
        }
    }

    static final Duty ANN = new Duty();
    static final Duty BEN = new Duty();
    static final Duty CLEO = new Duty();

    static synchronized void annLeaves() {
        if (!BEN.isAway()) {
            ANN.leave();
        }
    }

    static synchronized void benLeaves() {
        if (!CLEO.isAway()) {
            BEN.leave();
        }
    }

    static synchronized void cleoLeaves() {
        if (!ANN.isAway()) {
            CLEO.leave();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(OnCallFixed::annLeaves, "t1");
        Thread t2 = new Thread(() -> later(100, OnCallFixed::benLeaves), "t2");
        Thread t3 = new Thread(() -> later(200, OnCallFixed::cleoLeaves), "t3");
        t1.start();
        t2.start();
        t3.start();
        t1.join();
        t2.join();
        t3.join();
        boolean empty = ANN.isAway() && BEN.isAway() && CLEO.isAway();
        System.out.println(empty ? "the ward is empty" : "a doctor is there");
        if (empty) {
            System.exit(1);
        }
    }

    static void later(int millis, Runnable body) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        body.run();
    }
}
