/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Call.distance | Call.lift
 *   evidence harmful
 *   outcome exit | value
 * about: Every lift compares its distance to a call with that of the lift in charge and takes over if it is nearer,
 *   with no lock: the farther one, having looked too early, takes the call away again.
 */
public class Elevator {
    static class Call {
        final int floor;
        private int distance = Integer.MAX_VALUE;
        private int lift = -1;

        Call(int floor) {
            this.floor = floor;
        }

        boolean offer(int lift, int from) {
            int distance = Math.abs(from - floor);
            if (distance < this.distance) {
                this.distance = distance;
                this.lift = lift;
                return true;
            }
            return false;
        }

        synchronized int lift() {
            return lift;
        }
    }

    static class Lift implements Runnable {
        private final int number;
        private final int floor;
        private final Call call;

        Lift(int number, int floor, Call call) {
            this.number = number;
            this.floor = floor;
            this.call = call;
        }

        @Override
        public void run() {
            call.offer(number, floor);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Call call = new Call(7);
        runBoth(new Lift(1, 2, call), new Lift(2, 6, call));
        System.out.println("lift " + call.lift() + " goes");
        if (call.lift() != 2) {
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
