/* fixed: JoinedEarly
 * about: main adds to the sheet once it has seen that the clerk is done, and waits on if he is not.
 */
public class JoinedEarlyFixed {
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
        while (clerk.isAlive()) {
            clerk.join(50);
        }
        sheet.add(2);
        System.out.println("total " + sheet.total());
        if (sheet.total() != 42) {
            System.exit(1);
        }
    }
}
