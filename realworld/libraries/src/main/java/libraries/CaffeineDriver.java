package libraries;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Accounts in a cache: four clerks look accounts up and pay in. The bug: an account is looked up and then put, in two calls, so that two
 * clerks can make the same account twice, and what the first one paid in is lost.
 */
public final class CaffeineDriver {
    private static final int CLERKS = 4;
    private static final int PAYMENTS = 400;
    private static final int OWNERS = 300;

    static final class Account {
        private long balance;

        synchronized void pay(long amount) {
            balance += amount;
        }

        synchronized long balance() {
            return balance;
        }
    }

    static class Bank {
        final Cache<String, Account> accounts = Caffeine.newBuilder().maximumSize(10_000).recordStats().build();

        Account account(String owner) {
            Account account = accounts.getIfPresent(owner);
            if (account == null) {
                account = new Account();
                accounts.put(owner, account);
            }
            return account;
        }

        long total() {
            return accounts.asMap().values().stream().mapToLong(Account::balance).sum();
        }
    }

    /** Corrected: the cache makes the account. */
    static final class CarefulBank extends Bank {
        @Override
        Account account(String owner) {
            return accounts.get(owner, name -> new Account());
        }
    }

    public static void main(String[] args) throws Exception {
        Bank bank = args.length > 0 && args[0].equals("fixed") ? new CarefulBank() : new Bank();
        List<Thread> clerks = new ArrayList<>();
        for (int i = 0; i < CLERKS; i++) {
            Thread clerk = new Thread(() -> work(bank), "clerk-" + i);
            clerks.add(clerk);
            clerk.start();
        }
        for (Thread clerk : clerks) {
            clerk.join();
        }
        long total = bank.total();
        System.out.println("paid in " + total + ", expected " + CLERKS * PAYMENTS);
        System.exit(total == CLERKS * PAYMENTS ? 0 : 1);
    }

    private static void work(Bank bank) {
        Random random = new Random();
        for (int i = 0; i < PAYMENTS; i++) {
            bank.account("owner " + random.nextInt(OWNERS)).pay(1);
            if (i % 4 == 0) {
                pause(random.nextInt(4));
            }
        }
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
