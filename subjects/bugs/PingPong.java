/* bug:
 *   rule data-race | atomicity
 *   variable Table.ball
 *   evidence harmful
 *   outcome exception
 * about: One player looks whether the ball is there and hits it; the other takes the ball off the table in between.
 */
public class PingPong {
    static class Ball {
        private int hits;

        synchronized int hit() {
            return ++hits;
        }
    }

    static class Table {
        private Ball ball = new Ball();

        void ping() {
            if (ball != null) {
                ball.hit();
            }
        }

        void end() {
            ball = null;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Table table = new Table();
        runBoth(table::ping, table::end);
        System.out.println("game over");
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
