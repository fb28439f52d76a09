/* silent
 * Methods that read shared values twice, each time under the lock, and print both: reports and progress lines. They change
 * nothing after they have read, and what they print was true at two moments.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class MethodReports {
    static class Crawl {
        private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
        private int done;

        synchronized int done() {
            return done;
        }

        synchronized void finished() {
            done++;
        }

        void visit(String page) {
            seen.add(page);
            finished();
            progress();
        }

        void progress() {
            int before = done();
            int pages = seen.size();
            System.out.println("progress: " + before + " of " + pages + ", now " + done());
        }
    }

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
        Crawl crawl = new Crawl();
        Account account = new Account();
        Thread one = new Thread(() -> {
            crawl.visit("a");
            account.add(5);
        });
        Thread two = new Thread(() -> crawl.visit("b"));
        Thread reporter = new Thread(account::report);
        one.start();
        two.start();
        reporter.start();
        one.join();
        two.join();
        reporter.join();
        System.out.println(crawl.done() + " done, " + account.cents() + " cents");
    }
}
