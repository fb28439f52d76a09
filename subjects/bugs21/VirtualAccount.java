/* bug:
 *   rule atomicity
 *   variable VirtualAccount.balance
 *   evidence harmful
 *   outcome exit | exception
 * about: Reading the balance and writing it are each done under the lock; between the two another virtual thread's withdrawal is
 *   lost. There are more virtual threads than cores.
 */
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualAccount {
    private final ReentrantLock lock = new ReentrantLock();
    private int balance = 100;

    int read() {
        lock.lock();
        try {
            return balance;
        } finally {
            lock.unlock();
        }
    }

    void write(int amount) {
        lock.lock();
        try {
            balance = amount;
        } finally {
            lock.unlock();
        }
    }

    void withdraw(int amount) {
        int seen = read();
        if (seen >= amount) write(seen - amount);
    }

    public static void main(String[] args) {
        VirtualAccount account = new VirtualAccount();
        try (var each = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 5; i++) {
                // One after the other, so that they lose nothing unless they are made to.
                int millis = 60 * i;
                each.submit(() -> {
                    Thread.sleep(millis);
                    account.withdraw(20);
                    return null;
                });
            }
        }
        System.exit(account.read() == 0 ? 0 : 1);
    }
}
