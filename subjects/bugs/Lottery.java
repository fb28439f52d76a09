/* bug:
 *   rule atomicity | atomic-set
 *   variable Draw.last
 *   evidence harmful
 *   outcome exit | value
 * about: Drawing a number and noting it for the player are each synchronized; between the two another player's draw
 *   replaces the number, and both are given the same one.
 */
public class Lottery {
    static class Draw {
        private int last;
        private int next = 10;

        synchronized void draw() {
            last = next;
            next += 7;
        }

        synchronized int last() {
            return last;
        }
    }

    static class Player {
        private final Draw draw;
        private int number;

        Player(Draw draw) {
            this.draw = draw;
        }

        void play() {
            draw.draw();
            number = draw.last();
        }

        int number() {
            return number;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Draw draw = new Draw();
        Player anna = new Player(draw);
        Player bert = new Player(draw);
        runBoth(anna::play, bert::play);
        boolean same = anna.number() == bert.number();
        System.out.println(same ? "both have the same number" : "numbers differ");
        if (same) {
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
