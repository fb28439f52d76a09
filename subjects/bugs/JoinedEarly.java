/* bug:
 *   rule data-race | atomicity
 *   variable Sheet.total
 *   evidence confirmed
 *   outcome exit
 * about: main waits 50 ms for the clerk and then adds to the sheet as well, whether the clerk is done or not. In an ordinary run he is.
 */
public class JoinedEarly {
    static class Sheet {
        private int total;

        void add(int amount) {
            total += amount;
        }

        int total() {
            return total;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Sheet sheet = new Sheet();
        Thread clerk = new Thread(() -> sheet.add(40), "clerk");
        clerk.start();
        clerk.join(50);
        sheet.add(2);
        clerk.join();
        System.out.println("total " + sheet.total());
        if (sheet.total() != 42) {
            System.exit(1);
        }
    }
}
