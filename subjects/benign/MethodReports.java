/* silent
 * A method that reads a shared value twice, each time under the lock, and prints both: a report. It changes nothing after it
 * has read, and what it prints was true at two moments.
 */
public class MethodReports {
    static class Account {
        private int cents = 100;

        synchronized int cents() {
            return cents;
        }

        synchronized void add(int amount) {
            cents += amount;
        }

        void report() {
            int first = cents();
            int then = cents();
            System.out.println("from " + first + " to " + then);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        Thread one = new Thread(() -> account.add(5));
        Thread two = new Thread(() -> account.add(7));
        Thread reporter = new Thread(account::report);
        one.start();
        two.start();
        reporter.start();
        one.join();
        two.join();
        reporter.join();
        System.out.println(account.cents() + " cents");
    }
}
