/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: ThreeTransfers.java:21
 * about: a transfer tests the balance and takes from it in two steps; whether two transfers overdraw an account depends on a third one that pays in.
 */
public class ThreeTransfers {
    static final class Account {
        private int balance;

        Account(int balance) {
            this.balance = balance;
        }

        synchronized int balance() {
            return balance;
        }

        synchronized void add(int amount) {
            balance += amount;
            if (balance < 0) throw new IllegalStateException("overdrawn: " + balance);
        }

        synchronized boolean take(int amount) {
            if (balance < amount) return false;
            balance -= amount;
            return true;
        }
    }

    static void transfer(Account from, Account to, int amount) {
        if (from.balance() < amount) return;
        from.add(-amount);
        to.add(amount);
    }

    public static void main(String[] args) throws InterruptedException {
        Account a = new Account(10);
        Account b = new Account(10);
        Account c = new Account(0);
        Thread one = new Thread(() -> transfer(a, b, 10), "one");
        Thread two = new Thread(() -> transfer(b, c, 15), "two");
        Thread three = new Thread(() -> transfer(b, a, 10), "three");
        one.start();
        two.start();
        three.start();
        one.join();
        two.join();
        three.join();
    }
}
