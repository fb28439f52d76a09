/*
 * A bank: every account has its own lock, transfers take two of them in the order of the account numbers, and auditors
 * look at a whole branch under all its locks. Money must be conserved.
 *
 * Arguments: size (thousands of orders in all, default 20000), threads (default 2).
 */
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class Bank {
    static final int ACCOUNTS = 512;
    static final int BRANCH = 16;

    static final class Account {
        final int number;
        final Lock lock = new ReentrantLock();
        private long balance;
        private int operations;
        private final long[] lastAmounts = new long[8];

        Account(int number, long balance) {
            this.number = number;
            this.balance = balance;
        }

        private void book(long amount) {
            balance += amount;
            lastAmounts[operations & 7] = amount;
            operations++;
        }

        boolean withdraw(long amount) {
            if (balance < amount) {
                return false;
            }
            book(-amount);
            return true;
        }

        void deposit(long amount) {
            book(amount);
        }

        long balance() {
            return balance;
        }

        long turnover() {
            long sum = 0;
            for (long amount : lastAmounts) {
                sum += Math.abs(amount);
            }
            return sum;
        }
    }

    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(int account) {
            super("account " + account, null, false, false);
        }
    }

    /** Counts by kind of order, with the monitor of the object. */
    static final class Statistics {
        private final Map<String, Integer> counts = new HashMap<>();

        synchronized void add(String kind, int amount) {
            counts.merge(kind, amount, Integer::sum);
        }

        synchronized int get(String kind) {
            return counts.getOrDefault(kind, 0);
        }
    }

    private final List<Account> accounts = new ArrayList<>();
    private final Statistics statistics = new Statistics();

    Bank() {
        for (int i = 0; i < ACCOUNTS; i++) {
            accounts.add(new Account(i, 1000));
        }
    }

    void transfer(int from, int to, long amount) throws Refused {
        Account source = accounts.get(from);
        Account target = accounts.get(to);
        Account first = from < to ? source : target;
        Account second = from < to ? target : source;
        first.lock.lock();
        try {
            second.lock.lock();
            try {
                if (!source.withdraw(amount)) {
                    throw new Refused(from);
                }
                target.deposit(amount);
            } finally {
                second.lock.unlock();
            }
        } finally {
            first.lock.unlock();
        }
    }

    long audit(int branch) {
        int from = branch * BRANCH;
        for (int i = from; i < from + BRANCH; i++) {
            accounts.get(i).lock.lock();
        }
        try {
            long sum = 0;
            for (int i = from; i < from + BRANCH; i++) {
                Account account = accounts.get(i);
                if (account.balance() < 0) {
                    throw new AssertionError("overdrawn: " + i);
                }
                sum += account.turnover();
            }
            return sum;
        } finally {
            for (int i = from + BRANCH - 1; i >= from; i--) {
                accounts.get(i).lock.unlock();
            }
        }
    }

    /** Random numbers of one clerk, the same in every run. */
    static final class Dice {
        private long state;

        Dice(long seed) {
            state = seed * 0x9E3779B97F4A7C15L + 1;
        }

        int next(int bound) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) ((state >>> 33) % bound);
        }
    }

    void work(int clerk, int orders) {
        Dice dice = new Dice(clerk + 1);
        int done = 0;
        int refused = 0;
        int audits = 0;
        long seen = 0;
        for (int i = 0; i < orders; i++) {
            if (i % 500 == 0) {
                seen += audit(dice.next(ACCOUNTS / BRANCH));
                audits++;
                continue;
            }
            int from = dice.next(ACCOUNTS);
            int to = dice.next(ACCOUNTS);
            if (from == to) {
                to = (to + 1) % ACCOUNTS;
            }
            try {
                transfer(from, to, 1 + dice.next(100));
                done++;
            } catch (Refused e) {
                refused++;
            }
            if (i % 1000 == 999) {
                statistics.add("orders", done + refused);
                done = 0;
                refused = 0;
            }
        }
        statistics.add("orders", done + refused);
        statistics.add("audits", audits);
        statistics.add("seen", seen >= 0 ? 1 : 0);
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 20_000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Bank bank = new Bank();
        Thread[] clerks = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int clerk = i;
            clerks[i] = new Thread(() -> bank.work(clerk, size * 1000 / threads), "clerk-" + i);
            clerks[i].start();
        }
        for (Thread clerk : clerks) {
            clerk.join();
        }
        long total = 0;
        for (Account account : bank.accounts) {
            total += account.balance();
        }
        System.out.println("bank " + size + ": total " + total + ", orders " + bank.statistics.get("orders") + ", audits "
                + bank.statistics.get("audits"));
        if (total != 1000L * ACCOUNTS) {
            throw new AssertionError("money lost or made");
        }
    }
}
