/* bug:
 *   rule atomicity
 *   variable VirtualTill.balance
 *   evidence harmful
 *   outcome exit | exception
 * about: Two virtual threads read the balance and write it, each under the lock; between the two the other one's withdrawal is lost.
 *   There are more virtual threads than cores, and the others leave the balance alone.
 */
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualTill {
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
        VirtualTill account = new VirtualTill();
        try (var each = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 6; i++) {
                // One after the other, so that they lose nothing unless they are made to.
                int millis = 40 * i;
                int amount = i % 3 == 0 ? 50 : 0;
                each.submit(() -> {
                    Thread.sleep(millis);
                    if (amount > 0) account.withdraw(amount);
                    return null;
                });
            }
        }
        System.exit(account.read() == 0 ? 0 : 1);
    }
}
