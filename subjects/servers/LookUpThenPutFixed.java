/* fixed: LookUpThenPut
 * about: The register looks up and enters in one step.
 */
import java.util.concurrent.atomic.AtomicLong;

public class LookUpThenPutFixed {
    static class Bank {
        final RegisterOfNames<AtomicLong> accounts = new RegisterOfNames<>();

        AtomicLong account(String owner) {
            return accounts.findOrEnter(owner, AtomicLong::new);
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
