/* bug:
 *   rule check-then-act
 *   evidence harmful
 * about: An account is looked up in a register and then put there, in two calls, so that two clerks can make the same account twice and what the first
 *   one paid in is lost. The map is inside the register, which is another one's code.
 */
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

public class LookUpThenPut {
    static class Bank {
        final RegisterOfNames<AtomicLong> accounts = new RegisterOfNames<>();

        AtomicLong account(String owner) {
            AtomicLong account = accounts.find(owner);
            if (account == null) {
                account = new AtomicLong();
                accounts.enter(owner, account);
            }
            return account;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Bank bank = new Bank();
        BankClerks.work(bank::account);
        long total = bank.accounts.sum(AtomicLong::get);
        System.out.println("paid in " + total + ", expected " + BankClerks.PAYMENTS);
        System.exit(total == BankClerks.PAYMENTS ? 0 : 1);
    }
}

/** A register as a library has it. */
final class RegisterOfNames<V> {
    private final ConcurrentHashMap<String, V> entries = new ConcurrentHashMap<>();

    V find(String name) {
        return entries.get(name);
    }

    void enter(String name, V value) {
        entries.put(name, value);
    }

    V findOrEnter(String name, Supplier<V> made) {
        return entries.computeIfAbsent(name, key -> made.get());
    }

    long sum(java.util.function.ToLongFunction<V> number) {
        return entries.values().stream().mapToLong(number).sum();
    }
}

/** Four clerks who pay in. */
final class BankClerks {
    static final int PAYMENTS = 800;
    private static final int CLERKS = 4;

    private BankClerks() {
    }

    static void work(java.util.function.Function<String, AtomicLong> account) throws InterruptedException {
        Thread[] clerks = new Thread[CLERKS];
        for (int i = 0; i < CLERKS; i++) {
            clerks[i] = new Thread(() -> pay(account), "clerk-" + i);
            clerks[i].start();
        }
        for (Thread clerk : clerks) {
            clerk.join();
        }
    }

    private static void pay(java.util.function.Function<String, AtomicLong> account) {
        Random random = new Random();
        for (int i = 0; i < PAYMENTS / CLERKS; i++) {
            account.apply("owner " + random.nextInt(200)).incrementAndGet();
            if (i % 4 == 0) {
                try {
                    Thread.sleep(random.nextInt(4));
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }
    }
}
