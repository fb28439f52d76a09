/* finding: guarded-by
 * about: `peek` reads a field that its annotation guards by `this`, without the lock.
 */
public class Balance {
    @interface GuardedBy {
        String value();
    }

    @GuardedBy("this")
    private long cents;

    public synchronized void deposit(long amount) {
        cents += amount;
    }

    public synchronized void withdraw(long amount) {
        cents -= amount;
    }

    public long peek() {
        return cents;
    }
}
