/* failure:
 *   rule: lock-order
 *   outcome: deadlock
 *   place: InitialisersCross.java:10
 * about: the initialisers of two classes need each other. Two threads, each of which initialises one of them, deadlock.
 */
public class InitialisersCross {
    static final class Rates {
        static final int BASE = Integer.parseInt("3");
        static final int FULL = BASE + Taxes.SHARE;

        static int full() { return FULL; }
    }

    static final class Taxes {
        static final int SHARE = Integer.parseInt("2") * Rates.BASE;

        static int share() { return SHARE; }
    }

    public static void main(String[] args) throws Exception {
        int[] seen = new int[2];
        Thread prices = new Thread(() -> seen[0] = Rates.full(), "prices");
        Thread bills = new Thread(() -> seen[1] = Taxes.share(), "bills");
        prices.start();
        Thread.sleep(30);
        bills.start();
        prices.join();
        bills.join();
        System.out.println(seen[0] + " " + seen[1]);
    }
}
