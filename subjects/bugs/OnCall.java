/* bug:
 *   rule unserializable
 *   variable OnCall.Duty.away
 *   evidence harmful
 *   outcome exit | value
 * about: Each of three doctors leaves if the next one is there; looking and leaving are two holds of a lock. Any two of them may interleave
 *   as they like. Only if all three look before the first leaves is the ward empty: a cycle of three units, which no pattern of two shows.
 */
public class OnCall {
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

    static void annLeaves() {
        if (!BEN.isAway()) {
            ANN.leave();
        }
    }

    static void benLeaves() {
        if (!CLEO.isAway()) {
            BEN.leave();
        }
    }

    static void cleoLeaves() {
        if (!ANN.isAway()) {
            CLEO.leave();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(OnCall::annLeaves, "t1");
        Thread t2 = new Thread(() -> later(100, OnCall::benLeaves), "t2");
        Thread t3 = new Thread(() -> later(200, OnCall::cleoLeaves), "t3");
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
