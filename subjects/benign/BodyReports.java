/* silent
 * Bodies of threads that call synchronized methods several times and print what they saw. Each call is right by
 * itself; nothing says that all that a thread does is one step.
 */
public class BodyReports {
    static class Till {
        private int total;

        synchronized int pay(String who, int sum) {
            total += sum;
            System.out.println(who + " pays " + sum + ", the till has " + total);
            return total;
        }

        synchronized int total() {
            return total;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Till till = new Till();
        Thread ann = new Thread(() -> {
            till.pay("ann", 1);
            till.pay("ann", 2);
        });
        Thread bob = new Thread(() -> {
            till.pay("bob", 3);
            till.pay("bob", 4);
        });
        Thread reporter = new Thread(() -> {
            int first = till.total();
            int then = till.total();
            System.out.println("from " + first + " to " + then);
        });
        ann.start();
        bob.start();
        reporter.start();
        ann.join();
        bob.join();
        reporter.join();
        System.out.println("in all " + till.total());
    }
}
