/* fixed: VirtualTill */
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualTillFixed {
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
        lock.lock();
        try {
            int seen = read();
            if (seen >= amount) write(seen - amount);
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) {
        VirtualTillFixed account = new VirtualTillFixed();
        try (var each = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 6; i++) {
                int amount = i % 3 == 0 ? 50 : 0;
                each.submit(() -> account.withdraw(amount));
            }
        }
        System.exit(account.read() == 0 ? 0 : 1);
    }
}
