/* failure:
 *   rule lock-order
 *   outcome deadlock
 *   place InitialisersStuck.java:19
 * about: two threads initialise two classes that need each other, and each waits for the other's; the JVM calls both runnable
 */
public class InitialisersStuck {
    static void pause() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static class Prices {
        static {
            pause();
            Taxes.rate++;
        }

        static int count = 1;
    }

    static class Taxes {
        static {
            pause();
            Prices.count++;
        }

        static int rate = 1;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread prices = new Thread(() -> Prices.count++, "prices");
        Thread taxes = new Thread(() -> Taxes.rate++, "taxes");
        prices.start();
        taxes.start();
        prices.join();
        taxes.join();
        System.out.println("never reached");
    }
}
