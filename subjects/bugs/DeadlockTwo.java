/* bug:
 *   rule lock-order
 *   variable Account
 *   evidence harmful
 *   outcome deadlock
 * about: A transfer locks the account that gives and then the one that takes: two transfers in opposite directions
 *   wait for each other.
 */
public class DeadlockTwo {
    static class Account {
        private int balance = 100;

        void transfer(Account to, int amount) {
            synchronized (this) {
                synchronized (to) {
                    balance -= amount;
                    to.balance += amount;
                }
            }
        }

        synchronized int balance() {
            return balance;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account ann = new Account();
        Account bob = new Account();
        runBoth(() -> ann.transfer(bob, 10), () -> bob.transfer(ann, 20));
        System.out.println("ann " + ann.balance() + ", bob " + bob.balance());
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
