/* fixed: LateJoiner
 * A member adds its points in one synchronized call.
 */
public class LateJoinerFixed {
    static class Board {
        private int points;

        synchronized int points() {
            return points;
        }

        synchronized void set(int points) {
            this.points = points;
        }

        synchronized void add(int more) {
            int old = points();
            set(old + more);
        }
    }

    static volatile boolean open;
    static boolean joined;

    public static void main(String[] args) throws InterruptedException {
        Board board = new Board();
        Thread member = new Thread(() -> {
            if (open) {
                nap(5);
                joined = true;
                board.add(5);
            }
        }, "member");
        Thread host = new Thread(() -> {
            nap(100);
            open = true;
            nap(5);
            board.add(7);
        }, "host");
        member.start();
        host.start();
        member.join();
        host.join();
        int expected = joined ? 12 : 7;
        System.out.println(board.points() == expected ? "all points" : "points lost");
        if (board.points() != expected) System.exit(1);
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
