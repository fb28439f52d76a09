/* fixed: InitialisersStuck */
public class InitialisersStuckFixed {
    static void pause() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static class Prices {
        static int count = 1;

        static {
            pause();
        }
    }

    static class Taxes {
        static int rate = 1;

        static {
            pause();
            Prices.count++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread prices = new Thread(() -> new Prices(), "prices");
        Thread taxes = new Thread(() -> new Taxes(), "taxes");
        prices.start();
        taxes.start();
        prices.join();
        taxes.join();
        System.out.println(Prices.count + Taxes.rate);
    }
}
