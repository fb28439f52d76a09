/* fixed: InitialisersCross
 * What both classes need is in a third one, whose initialiser needs neither.
 */
public class InitialisersCrossFixed {
    static final class Base {
        static final int VALUE = Integer.parseInt("3");
    }

    static final class Rates {
        static final int FULL = Base.VALUE + Taxes.SHARE;

        static int full() { return FULL; }
    }

    static final class Taxes {
        static final int SHARE = Integer.parseInt("2") * Base.VALUE;

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
