/* bug:
 *   rule data-race | atomicity
 *   variable Purse.balance
 *   evidence harmful
 *   outcome exit | value
 * about: transfer locks the account that gives, and changes the balance of the one that takes without its lock. A
 *   deposit to that account between the read and the write of the addition is lost.
 */
public class Account {
    static class Purse {
        private int balance;

        Purse(int balance) {
            this.balance = balance;
        }

        synchronized void deposit(int amount) {
            balance += amount;
        }

        synchronized void transfer(Purse to, int amount) {
            balance -= amount;
            to.balance += amount;
        }

        synchronized int balance() {
            return balance;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Purse mine = new Purse(100);
        Purse yours = new Purse(100);
        runBoth(() -> mine.transfer(yours, 30), () -> yours.deposit(5));
        int total = mine.balance() + yours.balance();
        System.out.println("total " + total);
        if (total != 205) {
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
