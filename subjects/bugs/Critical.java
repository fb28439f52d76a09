/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Section.busy
 *   evidence harmful
 *   outcome exit | value
 * about: A home-made lock: look whether the section is busy, then say that it is. Two threads get in, and a turn is
 *   lost.
 */
public class Critical {
    static class Section {
        private boolean busy;
        private int inside;
        private int most;

        boolean enter() {
            if (busy) {
                return false;
            }
            busy = true;
            inside++;
            most = Math.max(most, inside);
            return true;
        }

        void leave() {
            inside--;
            busy = false;
        }

        int most() {
            return most;
        }
    }

    static void visit(Section section) {
        if (section.enter()) {
            section.leave();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Section section = new Section();
        runBoth(() -> visit(section), () -> visit(section));
        System.out.println("at most " + section.most() + " inside");
        if (section.most() != 1) {
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
