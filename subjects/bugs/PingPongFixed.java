/* fixed: PingPong */
public class PingPongFixed {
    static class Ball {
        private int hits;

        synchronized int hit() {
            return ++hits;
        }
    }

    static class Table {
        private Ball ball = new Ball();

        synchronized void ping() {
            if (ball != null) {
                ball.hit();
            }
        }

        synchronized void end() {
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
